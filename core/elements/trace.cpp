#include "elements/trace.hpp"

#include <algorithm>
#include <atomic>
#include <limits>
#include <tuple>

#include "elements/trapping.hpp"
#include "schedule/replicas.hpp"

namespace nearfield::elements {

namespace {

constexpr long batch = 1024;  // points of a chunk of work

void raise(double& most, double value) {
    std::atomic_ref shared(most);
    double seen = shared.load(std::memory_order_relaxed);
    while (value > seen && !shared.compare_exchange_weak(seen, value, std::memory_order_relaxed)) {
    }
}

// The cells whose corners have one label, and of every extremum the value that a
// line has to pass so that nothing but this extremum lies ahead: the largest within a cell of such a point. (Overshoot of
// the interpolant between points is left out.)
template <class T>
std::vector<double> thresholds_of(const Lattice& lattice, const T* field, double sign, const Numbers<Label>& labels,
                                  std::size_t extrema, const Numbers<std::uint8_t>& cells, const Team& team) {
    std::vector<double> found(extrema, -std::numeric_limits<double>::infinity());
    std::array<long, directions> offsets;  // of neighbours that lie in the box
    for (int d = 0; d < directions; ++d) offsets[d] = lattice.index(step_of(d));
    const auto within = [&](const Place& at) {
        bool inner = true;
        for (int axis = 0; axis < 3; ++axis) inner = inner && at[axis] > 0 && at[axis] + 1 < lattice.n[axis];
        return inner;
    };
    team.in_chunks(batch, [&](long first, long last) {
        std::array<Label, batch> differ{};  // from a neighbour; of points whose neighbours lie in the box
        for (const long offset : offsets) {
            const Label *const own = labels.data() + first, *const far = own + offset;
            const long end = std::min(last, lattice.size() - offset) - first;
            for (long m = std::max(0L, -offset - first); m < end; ++m) differ[m] |= far[m] ^ own[m];
        }
        Place at = lattice.place(first);
        for (long p = first; p < last; ++p, lattice.to_next(at)) {
            cells[p] &= whole - 1;
            if (!differ[p - first] && within(at)) {  // most points: all around belongs to one extremum
                cells[p] |= whole | trapped;
                continue;
            }
            if (is_whole(lattice, labels.data(), at, p)) cells[p] |= whole | trapped;
            Label around[directions];
            double most = sign * field[p];
            bool alike = true;
            for (int d = 0; d < directions; ++d) {
                Site to;
                around[d] = labels[p];
                if (!lattice.neighbour(at, step_of(d), to)) continue;
                around[d] = moved(labels[to.index], to.image);
                alike = alike && around[d] == labels[p];
                most = std::max(most, sign * field[to.index]);
            }
            if (alike) continue;
            for (const Label label : around)
                if (label != unknown) raise(found[rank_of(label)], most);
        }
    });
    if (team.alone()) return found;
    const std::vector<double> each = team.all(found);
    for (std::size_t m = 0; m < each.size(); ++m) found[m % extrema] = std::max(found[m % extrema], each[m]);
    return found;
}

}  // namespace

template <class T>
double widest_difference(const T* field, const Team& team) {
    double high = -std::numeric_limits<double>::infinity(), low = high;
    team.in_chunks(batch, [&](long first, long last) {
        const auto [least, most] = std::minmax_element(field + first, field + last);
        raise(high, *most);
        raise(low, -double(*least));
    });
    const auto most = [&](double own) {
        const std::vector<double> each = team.all(std::vector<double>{own});
        return *std::max_element(each.begin(), each.end());
    };
    high = most(high);
    return high + most(low);
}
template double widest_difference<float>(const float*, const Team&);
template double widest_difference<double>(const double*, const Team&);

template <class T>
Numbers<Label> traced(Lines<T>& lines, const Numbers<std::uint8_t>& cells) {
    const auto& [lattice, labels, team] = std::tie(lines.lattice, lines.labels, lines.team);
    const auto thresholds = thresholds_of(lattice, lines.field, lines.sign, labels, lines.extrema.size(), cells, team);
    trap(lattice, lines.field, lines.sign, labels, thresholds, team, cells);
    const schedule::Replicas<double> near_thresholds(thresholds, lines.layout);
    Numbers<Label> found(lattice.size(), team, lines.side + "-ends");
    lines.from(
        1, [&] { return Known{.cells = cells.data(), .thresholds = near_thresholds.here()}; },
        [](long) { return true; },
        [&](const std::vector<long>& points, const std::vector<Label>& ends) {
            for (std::size_t m = 0; m < points.size(); ++m)
                found[points[m]] = ends[m] == unknown ? labels[points[m]] : ends[m];
        });
    return found;
}
template Numbers<Label> traced(Lines<float>&, const Numbers<std::uint8_t>&);
template Numbers<Label> traced(Lines<double>&, const Numbers<std::uint8_t>&);

}  // namespace nearfield::elements
