#include "elements/persistence.hpp"

#include <algorithm>
#include <compare>
#include <mutex>
#include <numeric>
#include <stdexcept>
#include <unordered_map>

#include "schedule/loop.hpp"

namespace nearfield::elements {

namespace {

constexpr long batch = 1 << 15;  // points of a chunk of work

// Two points beside each other in different regions. The highest of two regions is their pass: by the lower point, then by
// the other, then by the direction, so that it is one whatever the order of work.
struct Pass {
    double value = 0.0;
    long lower = 0, other = 0, direction = 0;
    Place shift{};  // images of the higher rank's extremum less those of the lower rank's
    auto operator<=>(const Pass&) const = default;
};

Place less(const Place& a, const Place& b) { return {a[0] - b[0], a[1] - b[1], a[2] - b[2]}; }
Place plus(const Place& a, const Place& b) { return {a[0] + b[0], a[1] + b[1], a[2] + b[2]}; }

std::uint64_t pair_of(long low, long high) { return std::uint64_t(low) << 32 | std::uint64_t(high); }

using Passes = std::unordered_map<std::uint64_t, Pass>;

void keep_highest(Passes& passes, std::uint64_t pair, const Pass& pass) {
    const auto [found, fresh] = passes.try_emplace(pair, pass);
    if (!fresh && pass > found->second) found->second = pass;
}

// Values and indices times the sign: higher is greater for maxima and minima alike.
template <class T>
Passes passes_of(const Lattice& lattice, const T* field, double sign, const Numbers<Label>& labels, const Team& team) {
    Passes all;
    std::mutex lock;
    team.in_chunks(batch, [&](long first, long last) {
        Passes own;
        for (long p = first; p < last; ++p) {
            const Place at = lattice.place(p);
            for (int d = here + 1; d < directions; ++d) {  // each two points once
                Site to;
                if (!lattice.neighbour(at, step_of(d), to)) continue;
                const long one = rank_of(labels[p]), other = rank_of(labels[to.index]);
                if (one == other) continue;
                const auto height = [&](long q) { return std::pair{sign * double(field[q]), sign > 0 ? q : -q}; };
                const auto [low, high] = std::minmax({height(p), height(to.index)});
                const Place step = less(plus(image_of(labels[to.index]), to.image), image_of(labels[p]));
                Pass pass{low.first, low.second, high.second, d, one < other ? step : less({}, step)};
                keep_highest(own, pair_of(std::min(one, other), std::max(one, other)), pass);
            }
        }
        const std::scoped_lock held(lock);
        for (const auto& [pair, pass] : own) keep_highest(all, pair, pass);
    });
    if (team.alone()) return all;
    const std::vector<std::pair<std::uint64_t, Pass>> own(all.begin(), all.end());
    for (const auto& [pair, pass] : team.all(own)) keep_highest(all, pair, pass);
    return all;
}

// Regions that passes have joined so far, and the extrema that replaced others.
class Regions {
public:
    explicit Regions(std::size_t count) : parent(count), heir(count) {
        std::iota(parent.begin(), parent.end(), 0);
        for (std::size_t rank = 0; rank < count; ++rank) heir[rank] = {long(rank), {}};
    }

    struct Seen {
        long rank;
        Place shift;  // as seen from the extremum that was asked for
    };

    long highest(long rank) {
        while (parent[rank] != rank) rank = parent[rank] = parent[parent[rank]];
        return rank;
    }
    void join(long lower, long higher) { parent[lower] = higher; }
    void replace(long rank, const Seen& by) { heir[rank] = by; }
    Seen last(long rank) {
        Seen seen{rank, {}};
        while (heir[seen.rank].rank != seen.rank) {
            Seen& next = heir[seen.rank];
            const Seen after = heir[next.rank];
            next = {after.rank, plus(next.shift, after.shift)};  // half the way for whoever asks next
            seen = {next.rank, plus(seen.shift, next.shift)};
        }
        return seen;
    }

private:
    std::vector<long> parent;  // the root is the highest extremum of what is joined
    std::vector<Seen> heir;
};

}  // namespace

template <class T>
Simplification simplified(const Lattice& lattice, const T* field, double sign, const Numbers<Label>& labels,
                          const std::vector<long>& extrema, double least, const Team& team) {
    const Passes passes = passes_of(lattice, field, sign, labels, team);
    std::vector<std::pair<Pass, std::uint64_t>> falling;
    for (const auto& [pair, pass] : passes) falling.emplace_back(pass, pair);
    std::sort(falling.begin(), falling.end(), std::greater<>());
    const auto height = [&](long rank) {
        const long index = extrema[rank];
        return std::pair{sign * double(field[index]), sign > 0 ? index : -index};
    };
    Regions regions(extrema.size());
    for (const auto& [pass, pair] : falling) {
        long near = long(pair >> 32), far = long(pair & 0xFFFFFFFF);
        Place step = pass.shift;
        if (regions.highest(near) == regions.highest(far)) continue;
        if (height(regions.highest(near)) > height(regions.highest(far))) {
            std::swap(near, far);
            step = less({}, step);
        }
        const long ending = regions.highest(near);  // the elder rule: the lower of both summits ends at the pass
        const double persistence = height(ending).first - pass.value;
        regions.join(ending, regions.highest(far));
        if (!(persistence < least)) continue;
        // all that was joined to it ended before, as its persistence was less
        const auto own = regions.last(near), other = regions.last(far);
        regions.replace(ending, {other.rank, less(plus(step, other.shift), own.shift)});
    }
    Simplification made{std::vector<Label>(extrema.size()), {}};
    std::vector<long> number(extrema.size());
    for (long rank = 0; rank < long(extrema.size()); ++rank)
        if (regions.last(rank).rank == rank) {
            number[rank] = long(made.stay.size());
            made.stay.push_back(rank);
        }
    for (long rank = 0; rank < long(extrema.size()); ++rank) {
        const auto last = regions.last(rank);
        for (const long turns : last.shift)
            if (std::abs(turns) > reach)
                throw std::range_error("a chain of passes winds around the box more than twice");
        made.replaced[rank] = label_of(number[last.rank], last.shift);
    }
    return made;
}

void replace(const Simplification& simplification, const Numbers<Label>& labels, const Team& team) {
    std::atomic<bool> near{true};
    team.in_chunks(batch, [&](long first, long last) {
        for (long p = first; p < last; ++p) {
            labels[p] = moved(simplification.replaced[rank_of(labels[p])], image_of(labels[p]));
            if (labels[p] == unknown) near.store(false);
        }
    });
    if (!team.everywhere(near)) throw std::range_error("a chain of passes winds around the box more than twice");
}

template Simplification simplified<float>(const Lattice&, const float*, double, const Numbers<Label>&,
                                          const std::vector<long>&, double, const Team&);
template Simplification simplified<double>(const Lattice&, const double*, double, const Numbers<Label>&,
                                           const std::vector<long>&, double, const Team&);

}  // namespace nearfield::elements
