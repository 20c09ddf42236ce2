// Lines along the gradient to the extrema where they end.
#pragma once

#include <bit>
#include <utility>

#include "captures.hpp"
#include "kernels.hpp"

namespace nearfield::elements {

// Lengths in units of the smallest width.
constexpr double longest_step = 8.0, first_step = 2.0, shortest_step = 1e-3;
constexpr double longest_kept = 0.5;   // the same of lines whose places are kept
constexpr double before_wall = 0.1;    // a step shorter than this near a wall goes on to it
constexpr double degenerate = 1e-3;    // gradient over the largest difference to a neighbour, at a critical point
constexpr double from_critical = 0.1;  // widths, of a line that starts at a critical point; each later one twice as far
constexpr double from_stalled = 0.01;  // the same of a line that came to one
constexpr double care = 2e-2,
                 great_care = 2e-3;  // share of tolerance and shortest step of such lines: saddles are near
constexpr double rounded = 1e-9;     // less than this below an end is the end
constexpr int attempts = 5, most_steps = 2000;

// What is kept of a line besides its end: nothing. Lines that are `whole` go on to the extremum itself, though their end is
// known before; those whose places are `kept` do so in short steps.
struct NoTrail {
    static constexpr bool whole = false, kept = false;
    void clear() {}
    void add(const Walk&) {}
    void advance(double) {}
};

template <class T, class Trail = NoTrail>
class Tracer {
public:
    explicit Tracer(const Task<T>& task)
        : task(task), terrain(elements::terrain(task.axes, task.field, task.sign)), captures(task) {
        for (int d = 0; d < directions; ++d) beside[d] = task.lattice.index(step_of(d));
        for (int a = 0; a < 3; ++a) walls = walls || (task.lattice.n[a] > 1 && !task.axes[a].periodic);
    }

    // Lines from `count` points of the grid, several in hand; where they end, and their trails.
    void follow(const long* points, long count, Label* ends, Trail* trails = nullptr) const {
        Bundle bundle;
        bundle.longest = longest;
        Line lines[lanes];
        long next = 0, active = 0;
        const auto finish = [&](Line& line) {
            ends[line.number] = line.end;
            if constexpr (Trail::whole) trails[line.number] = std::move(line.trail);
        };
        const auto refill = [&](long m) {
            Line& line = lines[m];
            while (next < count) {
                line.number = next;
                line.index = points[next++];
                ends[line.number] = task.labels[line.index];
                if constexpr (!Trail::whole)
                    if (captures.settled(line.index, task.sign * task.field[line.index])) continue;
                begin(line, bundle, m);
                if (!arrived(line, bundle, m)) return true;
                finish(line);
            }
            return false;
        };
        while (active < lanes && refill(active)) ++active;
        while (active > 0) {
            kernels.step(terrain, bundle, active);
            for (long m = active - 1; m >= 0; --m) {
                if (bundle.went[m]) advance(lines[m], bundle, m);
                if (!arrived(lines[m], bundle, m)) continue;
                finish(lines[m]);
                if (refill(m) || m == --active) continue;
                lines[m] = std::move(lines[active]);  // which has had its turn
                move(bundle, active, m);
            }
        }
    }

private:
    static constexpr double longest = Trail::kept ? longest_kept : longest_step;

    // What is known of a line besides the numbers of its lane.
    struct Line {
        long number, index;
        Place from;  // of the point
        int attempt, steps;
        bool critical;  // starts at a critical point
        double shortest;
        Place image;
        Label end;
        [[no_unique_address]] Trail trail;
    };

    static Walk walk(const Line& line, const Bundle& bundle, long m) {
        const Slopes& here = bundle.here;
        return {{bundle.at[0][m], bundle.at[1][m], bundle.at[2][m]},
                line.image,
                here.value[m],
                here.steep[m],
                {here.gradient[0][m], here.gradient[1][m], here.gradient[2][m]}};
    }
    static void put(const Walk& walk, Line& line, Bundle& bundle, long m) {
        line.image = walk.image;
        bundle.here.value[m] = walk.value, bundle.here.steep[m] = walk.steep;
        for (int a = 0; a < 3; ++a) bundle.at[a][m] = walk.at[a], bundle.here.gradient[a][m] = walk.gradient[a];
    }
    static void move(Bundle& bundle, long from, long m) {
        Slopes& here = bundle.here;
        for (auto* numbers : {bundle.at[0], bundle.at[1], bundle.at[2], here.gradient[0], here.gradient[1],
                              here.gradient[2], here.value, here.steep, bundle.length, bundle.allowed})
            numbers[m] = numbers[from];
        bundle.went[m] = bundle.went[from];
    }

    void begin(Line& line, Bundle& bundle, long m) const {
        line.attempt = 0;
        line.from = task.lattice.place(line.index);
        start(line, bundle, m);
        const double steep = bundle.here.steep[m];
        line.critical =
            steep < degenerate * task.widest && steep < degenerate * largest_difference(line.index, line.from);
        if (line.critical) again(line, bundle, m);
    }
    // Anew from a place beside the point, by random numbers of the point.
    void again(Line& line, Bundle& bundle, long m) const {
        ++line.attempt;
        start(line, bundle, m);
    }
    void start(Line& line, Bundle& bundle, long m) const {
        Walk walk = at_point(line.index, line.from);
        line.trail.clear();
        double share = Trail::kept ? great_care : 1.0;
        if (line.attempt > 0) {
            if constexpr (Trail::kept) line.trail.add(walk);
            share = Trail::kept || line.critical ? great_care : care;
            displace(walk, line.from, line.index, line.attempt - 1,
                     (line.critical ? from_critical : from_stalled) * double(1 << (line.attempt - 1)));
            measure(walk);
        }
        bundle.allowed[m] = tolerance * share;
        line.shortest = shortest_step * share;
        bundle.length[m] = std::min(first_step, longest);
        bundle.went[m] = 1;
        line.steps = 0;
        put(walk, line, bundle, m);
        line.trail.add(walk);
        line.end = captured(walk, captures.cell_of(walk), line);
    }
    Label captured(const Walk& walk, const Place& low, const Line& line) const {
        return Trail::whole ? captures.reached(walk, low) : captures.captured(walk, low, line.steps);
    }

    // Whether the line has ended for good; one that may have come to a saddle starts anew.
    bool arrived(Line& line, Bundle& bundle, long m) const {
        if (line.end == unknown && walls && bundle.length[m] < before_wall) land(line, bundle, m);
        while (line.end != unknown || !(bundle.here.steep[m] > 0) || bundle.length[m] < line.shortest ||
               line.steps == most_steps) {
            if (line.end == unknown) line.end = captures.stalled(walk(line, bundle, m));
            if (line.end != unknown || line.attempt == attempts) return true;
            if (summit(bundle, m)) {
                if constexpr (!Trail::whole) line.end = captures.beside(walk(line, bundle, m));
                return true;
            }
            again(line, bundle, m);
        }
        return false;
    }

    // Straight on to a wall that the next two steps would cross: the gradient changes there at once, so that steps towards it
    // are refused until they are too short.
    void land(Line& line, Bundle& bundle, long m) const {
        Walk now = walk(line, bundle, m);
        double far = 2 * bundle.length[m];
        int wall = -1;
        for (int a = 0; a < 3; ++a) {
            if (task.axes[a].periodic || !(std::abs(now.gradient[a]) > 0)) continue;
            const double left = now.gradient[a] > 0 ? task.axes[a].length - now.at[a] : now.at[a];
            const double there = left * now.steep / std::abs(now.gradient[a]);
            if (there < far) far = there, wall = a;
        }
        if (wall < 0) return;
        for (int a = 0; a < 3; ++a) now.at[a] += far * now.gradient[a] / now.steep;
        now.at[wall] = now.gradient[wall] > 0 ? task.axes[wall].length : 0.0;
        wrap(now);
        measure(now);
        put(now, line, bundle, m);
        bundle.length[m] = std::min(first_step, longest);
        bundle.went[m] = 1;
        arrive(now, far, captures.cell_of(now), line);
    }

    // Whether a line that goes no further is at an extremum of the function itself, which has none beside it on the grid:
    // the matrix of second derivatives is negative definite.
    bool summit(const Bundle& bundle, long m) const {
        double at[3][lanes];
        for (int beside = 0; beside < 6; ++beside)
            for (int a = 0; a < 3; ++a)
                at[a][beside] = bundle.at[a][m] + (beside / 2 == a ? (beside % 2 ? -from_critical : from_critical) : 0);
        Slopes found;
        kernels.slopes(terrain, at, 6, found);
        const auto bend = [&](int a, int b) {
            if (task.lattice.n[a] == 1 || task.lattice.n[b] == 1) return a == b ? -1.0 : 0.0;
            return found.gradient[a][2 * b] - found.gradient[a][2 * b + 1];
        };
        const double xx = bend(0, 0), yy = bend(1, 1), zz = bend(2, 2), xy = (bend(0, 1) + bend(1, 0)) / 2,
                     xz = (bend(0, 2) + bend(2, 0)) / 2, yz = (bend(1, 2) + bend(2, 1)) / 2;
        const double plane = xx * yy - xy * xy;
        return xx < 0 && plane > 0 && zz * plane - xx * yz * yz - yy * xz * xz + 2 * xy * xz * yz < 0;
    }

    // To the end of a step.
    void advance(Line& line, Bundle& bundle, long m) const {
        Walk now = walk(line, bundle, m);
        const bool moved = wrap(now);
        if (moved) put(now, line, bundle, m);
        const auto& cell = bundle.here.cell;
        arrive(now, bundle.step[m], moved ? captures.cell_of(now) : Place{cell[0][m], cell[1][m], cell[2][m]}, line);
    }
    // At a place in the cell `low`, by a step of a length.
    void arrive(const Walk& now, double step, const Place& low, Line& line) const {
        line.trail.advance(step);
        ++line.steps;
        line.trail.add(now);
        line.end = captured(now, low, line);
    }

    // At a point of the grid, where the cubic polynomials have the slopes of parabolas.
    Walk at_point(long index, const Place& at) const {
        Walk made{};
        bool last = false;
        for (int a = 0; a < 3; ++a) {
            const Axis<T>& axis = task.axes[a];
            made.at[a] = axis.position[at[a]];
            last = last || at[a] == long(axis.cells.size());
        }
        if (last) {  // of an axis that ends there: no cell begins
            measure(made);
            return made;
        }
        made.value = task.sign * double(task.field[index]);
        const Place stride{task.lattice.n[1] * task.lattice.n[2], task.lattice.n[2], 1};
        for (int a = 0; a < 3; ++a) {
            const Cell& cell = task.axes[a].cells[at[a]];
            const auto& points = task.axes[a].points[at[a]];
            const auto& weights = task.axes[a].weights[cell.weights].of[1];
            const auto part = [&](int p) { return weights[p] * task.field[index + (points[p] - at[a]) * stride[a]]; };
            const T sum = a < 2 ? ((part(0) + part(1)) + part(2)) + part(3) : (part(0) + part(2)) + (part(1) + part(3));
            double& slope = made.gradient[a] = task.sign * (double(sum) * cell.per_length);
            if (at[a] == 0 && !task.axes[a].periodic && slope < 0) slope = 0;
        }
        const Point& g = made.gradient;
        made.steep = std::sqrt(g[0] * g[0] + g[1] * g[1] + g[2] * g[2]);
        return made;
    }
    void measure(Walk& walk) const {
        double at[3][lanes];
        for (int a = 0; a < 3; ++a) at[a][0] = walk.at[a];
        Slopes found;
        kernels.slopes(terrain, at, 1, found);
        walk.value = found.value[0], walk.steep = found.steep[0];
        for (int a = 0; a < 3; ++a) walk.gradient[a] = found.gradient[a][0];
    }

    // Into the box again on periodic axes and back to its end on others; whether it was outside.
    bool wrap(Walk& walk) const {
        bool moved = false;
        for (int a = 0; a < 3; ++a) {
            const double length = task.axes[a].length;
            double& at = walk.at[a];
            if (at >= 0 && at < length) continue;
            moved = true;
            if (!task.axes[a].periodic) {
                at = std::clamp(at, 0.0, length);
                continue;
            }
            if (at < 0 && at > -rounded) {
                at = 0;
                continue;
            }
            const double turns = std::floor(at / length);
            at -= turns * length;
            walk.image[a] += long(turns);
        }
        return moved;
    }

    double largest_difference(long index, const Place& at) const {
        double most = 0.0;
        bool inner = true;
        for (int axis = 0; axis < 3; ++axis) inner = inner && at[axis] > 0 && at[axis] + 1 < task.lattice.n[axis];
        if (inner) {
            const double own = task.field[index];
            for (const long far : beside) most = std::max(most, std::abs(double(task.field[index + far]) - own));
            return most;
        }
        for (int d = 0; d < directions; ++d) {
            Site to;
            if (task.lattice.neighbour(at, step_of(d), to))
                most = std::max(most, std::abs(double(task.field[to.index]) - double(task.field[index])));
        }
        return most;
    }

    // Splitmix64: random bits of a counter.
    static std::uint64_t mixed(std::uint64_t counter) {
        std::uint64_t z = counter + 0x9E3779B97F4A7C15ull;
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
        z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
        return z ^ (z >> 31);
    }
    // Digits of the value at a point, which scales by powers of two and signs leave as they are.
    std::uint64_t digits(long index) const {
        const double value = task.field[index];
        return std::bit_cast<std::uint64_t>(value) & ((std::uint64_t{1} << 52) - 1);
    }
    // Random numbers of the values at a point and beside it, so that shifted and turned fields have the same lines; of the
    // point's number where two of these values are equal.
    void displace(Walk& walk, const Place& at, long index, int attempt, double far) const {
        std::uint64_t key[4] = {0, 1, 2, digits(index)};
        bool equal = false;
        for (int axis = 0; axis < 3; ++axis) {
            Place step{};
            step[axis] = 1;
            Site to;
            if (task.lattice.n[axis] == 1 || !task.lattice.neighbour(at, step, to)) continue;
            key[axis] = digits(to.index);
            equal = equal || key[axis] == key[3];
            for (int other = 0; other < axis; ++other) equal = equal || key[axis] == key[other];
        }
        const std::uint64_t own = equal ? std::uint64_t(index) : key[3];
        for (int axis = 0; axis < 3; ++axis) {
            if (task.lattice.n[axis] == 1) continue;
            const auto bits =
                mixed(mixed(mixed(own) ^ (equal ? std::uint64_t(axis) : key[axis])) + std::uint64_t(attempt));
            walk.at[axis] += far * (2 * (double(bits >> 11) * 0x1p-53) - 1);
        }
        wrap(walk);
    }

    const Task<T>& task;
    Terrain<T> terrain;
    const Kernels<T>& kernels = kernels_for<T>();
    Captures<T> captures;
    bool walls = false;                   // some axis ends
    std::array<long, directions> beside;  // from a point whose neighbours all lie in the box
};

}  // namespace nearfield::elements
