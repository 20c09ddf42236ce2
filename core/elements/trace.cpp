#include "elements/trace.hpp"

#include <algorithm>
#include <atomic>
#include <limits>

#include "elements/bricks.hpp"
#include "elements/tracer.hpp"
#include "elements/trapping.hpp"
#include "schedule/replicas.hpp"

namespace nearfield::elements {

namespace {

constexpr long together = 8;  // bricks few of whose points are asked
constexpr long batch = 1024;  // points of a chunk of work that follows no lines

void raise(double& most, double value) {
    std::atomic_ref shared(most);
    double seen = shared.load(std::memory_order_relaxed);
    while (value > seen && !shared.compare_exchange_weak(seen, value, std::memory_order_relaxed)) {
    }
}

// The points around which labels differ, the cells whose corners have one label, and of every extremum the value that a
// line has to pass so that nothing but this extremum lies ahead: the largest within a cell of such a point. (Overshoot of
// the interpolant between points is left out.)
template <class T>
std::vector<double> thresholds_of(const Lattice& lattice, const T* field, double sign, const Numbers<Label>& labels,
                                  std::size_t extrema, const Numbers<std::uint8_t>& mixed,
                                  const Numbers<std::uint8_t>& cells, const Team& team) {
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
            bool alike = true, face_alike = true;
            for (int d = 0; d < directions; ++d) {
                Site to;
                around[d] = labels[p];
                if (!lattice.neighbour(at, step_of(d), to)) continue;
                around[d] = moved(labels[to.index], to.image);
                alike = alike && around[d] == labels[p];
                if (is_face(d)) face_alike = face_alike && around[d] == labels[p];
                most = std::max(most, sign * field[to.index]);
            }
            mixed[p] = !face_alike;
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

enum : std::uint8_t { idle, asked, done };

// The team's own points beside those whose label has changed are asked next, unless they were before. Several threads may
// ask one point: each writes the same.
void ask_beside(const Lattice& lattice, const Team& team, const std::vector<long>& changed,
                const Numbers<std::uint8_t>& wanted) {
    in_chunks(long(changed.size()), batch, team.threads, [&](long first, long last) {
        for (long m = first; m < last; ++m) {
            const Place at = lattice.place(changed[m]);
            for (int d = 0; d < directions; ++d) {
                Site to;
                if (!is_face(d) || !lattice.neighbour(at, step_of(d), to)) continue;
                if (to.index < team.first || to.index >= team.last) continue;
                const std::atomic_ref state(wanted[to.index]);
                if (state.load(std::memory_order_relaxed) == idle) state.store(asked, std::memory_order_relaxed);
            }
        }
    });
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
Numbers<Label> traced(const Lattice& lattice, const std::array<Axis<T>, 3>& axes, const T* field, double sign,
                      double widest, const Numbers<Label>& labels, const std::vector<Extremum>& extrema,
                      const Numbers<std::uint8_t>& cells, const Effort& effort, const Team& team, Counts& counts) {
    const std::string side = sign > 0 ? "up" : "down";
    const Numbers<std::uint8_t> wanted(lattice.size(), team, side + "-wanted");
    const auto thresholds = thresholds_of(lattice, field, sign, labels, extrema.size(), wanted, cells, team);
    trap(lattice, field, sign, labels, thresholds, team, cells);
    const auto machine = schedule::this_machine(team.threads);
    const schedule::Replicas<Extremum> near_extrema(extrema, machine);
    const schedule::Replicas<double> near_thresholds(thresholds, machine);
    Numbers<Label> found(lattice.size(), team, side + "-ends");
    team.in_chunks(batch, [&](long first, long last) {
        std::copy(labels.data() + first, labels.data() + last, found.data() + first);
        if (effort.all) std::fill(wanted.data() + first, wanted.data() + last, asked);
    });
    const Bricks bricks(lattice, effort.chunk, team.first, team.last);
    std::atomic<long> lines{0}, lost{0};
    for (bool more = true; more;) {
        std::vector<std::vector<long>> changed(bricks.size());
        in_chunks(bricks.size(), effort.all ? 1 : together, team.threads, [&](long first, long last) {
            const Task<T> task{
                lattice, axes, field, sign, labels.data(), cells.data(), near_extrema.here(), near_thresholds.here(),
                widest};
            const Tracer<T> tracer(task);
            std::vector<long> points;
            for (long brick = first; brick < last; ++brick)
                bricks.each(brick, [&](long p) {
                    if (wanted[p] != asked) return;
                    wanted[p] = done;
                    points.push_back(p);
                });
            const long own = long(points.size());
            std::vector<Label> ends(points.size());
            tracer.follow(points.data(), own, ends.data());
            lines += own;
            lost += std::count(ends.begin(), ends.end(), unknown);
            for (long m = 0; m < own; ++m) {
                if (ends[m] == unknown || ends[m] == labels[points[m]]) continue;
                found[points[m]] = ends[m];
                if (effort.all) continue;  // no point is left to be asked
                changed[first].push_back(points[m]);
            }
        });
        if (effort.all) break;
        std::vector<long> all;
        for (const auto& part : changed) all.insert(all.end(), part.begin(), part.end());
        all = team.all(all);
        more = !all.empty();
        ask_beside(lattice, team, all, wanted);
    }
    counts.traced += team.sum(lines);
    counts.unresolved += team.sum(lost);
    return found;
}

#define NEARFIELD_TRACED(T)                                                                                    \
    template Numbers<Label> traced<T>(const Lattice&, const std::array<Axis<T>, 3>&, const T*, double, double, \
                                      const Numbers<Label>&, const std::vector<Extremum>&,                     \
                                      const Numbers<std::uint8_t>&, const Effort&, const Team&, Counts&)
NEARFIELD_TRACED(float);
NEARFIELD_TRACED(double);

}  // namespace nearfield::elements
