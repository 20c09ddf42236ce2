// Lines along the gradient to the extrema where they end: several at once, stage by stage, so that the processor evaluates
// one while the numbers of another are on their way.
#pragma once

#include <bit>

#include "captures.hpp"
#include "interpolant.hpp"

namespace nearfield::elements {

// Lengths in units of the smallest width.
constexpr double longest_step = 8.0, first_step = 2.0, shortest_step = 1e-3;
constexpr double longest_kept = 0.5;  // the same of lines whose places are kept
constexpr double tolerance = 1e-2;    // of a step's end, over its length
constexpr double least_share = 0.5,
                 most_share = 4.0;     // of the gradient within a step: a saddle lies where it changes more
constexpr double most_growth = 3.0;    // of a step over the one before
constexpr double foreseen = 0.4;       // share of the way to where the gradient would be gone that a step may take
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
    explicit Tracer(const Task<T>& task) : task(task), interpolant(task.axes, task.field), captures(task) {
        for (int d = 0; d < directions; ++d) beside[d] = task.lattice.index(step_of(d));
    }

    void follow(const long* points, long count, Label* ends, Trail* trails = nullptr) const {
        Line lines[in_hand];
        long next = 0, active = 0;
        const auto finish = [&](Line& line) {
            ends[line.number] = line.end;
            if constexpr (Trail::whole) trails[line.number] = std::move(line.trail);
        };
        const auto refill = [&](Line& line) {
            while (next < count) {
                line.number = next;
                line.index = points[next++];
                const Label label = ends[line.number] = task.labels[line.index];
                if constexpr (!Trail::whole)
                    if (task.sign * task.field[line.index] > task.thresholds[rank_of(label)]) continue;
                begin(line);
                if (!arrived(line)) return true;
                finish(line);
            }
            return false;
        };
        while (active < in_hand && refill(lines[active])) ++active;
        while (active > 0) {
            stages(lines, active);
            for (long m = active - 1; m >= 0; --m) {
                if (!arrived(lines[m])) continue;
                finish(lines[m]);
                if (!refill(lines[m])) lines[m] = std::move(lines[--active]);  // which has had its turn
            }
        }
    }

private:
    static constexpr int in_hand = 8;
    static constexpr double longest = Trail::kept ? longest_kept : longest_step;

    struct Line {
        long number, index;
        Place from;  // of the point
        int attempt, steps;
        bool critical;                     // starts at a critical point
        double allowed, shortest, length;  // of steps: error over length, length, length of the next
        Walk walk;
        Label end;
        // of the step in hand: the unit vectors of its stages, the place and slope of the latest one, whether all is well
        std::array<Point, 4> k;
        Point to;
        typename Interpolant<T>::Spot spot;
        unsigned walls;
        Slope slope;
        double steep;
        bool good;
        [[no_unique_address]] Trail trail;
    };

    void begin(Line& line) const {
        line.attempt = 0;
        line.from = task.lattice.place(line.index);
        start(line);
        line.critical = line.walk.steep < degenerate * largest_difference(line.index, line.from);
        if (line.critical) again(line);
    }
    // Anew from a place beside the point, by random numbers of the point.
    void again(Line& line) const {
        ++line.attempt;
        start(line);
    }
    void start(Line& line) const {
        const Place& at = line.from;
        for (int axis = 0; axis < 3; ++axis) line.walk.at[axis] = task.axes[axis].position[at[axis]];
        line.walk.image = {};
        line.trail.clear();
        double share = Trail::kept ? great_care : 1.0;
        if (line.attempt > 0) {
            if constexpr (Trail::kept) line.trail.add(measured(line.walk));
            share = Trail::kept || line.critical ? great_care : care;
            displace(line.walk, at, line.index, line.attempt - 1,
                     (line.critical ? from_critical : from_stalled) * double(1 << (line.attempt - 1)));
        }
        line.allowed = tolerance * share;
        line.shortest = shortest_step * share;
        line.length = std::min(first_step, longest);
        line.steps = 0;
        measure(line.walk, slope(line.walk.at));
        line.trail.add(line.walk);
        line.end = captured(line.walk, captures.cell_of(line.walk));
    }
    Walk measured(Walk walk) const {
        measure(walk, slope(walk.at));
        return walk;
    }
    Label captured(const Walk& walk, const Place& low) const {
        return Trail::whole ? captures.reached(walk, low) : captures.captured(walk, low);
    }

    // Whether the line has ended for good; one that came to a saddle starts anew.
    bool arrived(Line& line) const {
        while (line.end != unknown || !(line.walk.steep > 0) || line.length < line.shortest ||
               line.steps == most_steps) {
            if (line.end == unknown) line.end = captures.stalled(line.walk);
            if (line.end != unknown || line.attempt == attempts) return true;
            again(line);
        }
        return false;
    }

    // One step of each line by Bogacki and Shampine's pair of orders 3 and 2, along the unit vector of the gradient. Refused,
    // with a shorter length for the next attempt, where the error over the length is too large, the value does not rise,
    // or the gradient changes too much.
    void stages(Line* lines, long active) const {
        for (long m = 0; m < active; ++m) {
            Line& line = lines[m];
            for (int a = 0; a < 3; ++a) line.k[0][a] = line.walk.gradient[a] / line.walk.steep;
            line.good = true;
        }
        stage<1>(lines, active);
        stage<2>(lines, active);
        stage<3>(lines, active);
        for (long m = 0; m < active; ++m) conclude(lines[m]);
    }

    // All lines through one part of a stage, then through the next, so that the processor has several in hand.
    template <int number>
    [[gnu::always_inline]] inline void stage(Line* lines, long active) const {
        const auto each = [&](const auto& work) {
            for (long m = 0; m < active; ++m)
                if (lines[m].good) work(lines[m]);
        };
        each([&](Line& line) { advance<number>(line); });
        each([&](Line& line) { line.slope = interpolant(line.spot); });
        each([&](Line& line) { turn(line, number); });
    }

    // To the end of these shares of the vectors so far.
    template <int stage>
    [[gnu::always_inline]] inline void advance(Line& line) const {
        constexpr Point shares = stage == 1   ? Point{0.5, 0, 0}
                                 : stage == 2 ? Point{0, 0.75, 0}
                                              : Point{2.0 / 9, 1.0 / 3, 4.0 / 9};
#pragma GCC unroll 3
        for (int a = 0; a < 3; ++a) {
            double along = shares[stage - 1] * line.k[stage - 1][a];
            if constexpr (stage == 3) {
                along += shares[1] * line.k[1][a];
                along += shares[0] * line.k[0][a];
            }
            line.to[a] = line.walk.at[a] + line.length * along;
        }
        Point at = line.to;
        line.walls = inside(at);
        line.spot = interpolant.spot(at);
    }
    // Into the direction of the gradient there.
    [[gnu::always_inline]] inline void turn(Line& line, int stage) const {
        upwards(line.slope, line.walls);
        const double steep = line.steep = line.slope.steepness(), scale = 1 / steep, begin = line.walk.steep;
        for (int a = 0; a < 3; ++a) line.k[stage][a] = line.slope.gradient[a] * scale;
        line.good = steep >= least_share * begin && steep <= most_share * begin;
    }

    void conclude(Line& line) const {
        if (!line.good || !(line.slope.value > line.walk.value)) {
            line.length *= 0.5;
            return;
        }
        double error = 1e-12;
        for (int a = 0; a < 3; ++a)
            error = std::max(
                error, std::abs(-5.0 / 72 * line.k[0][a] + line.k[1][a] / 12 + line.k[2][a] / 9 - line.k[3][a] / 8));
        const double change = 0.9 * std::sqrt(line.allowed / error);
        if (error > line.allowed) {
            line.length *= std::clamp(change, 0.2, 0.7);
            return;
        }
        line.walk.at = line.to;
        const bool moved = wrap(line.walk);
        line.walk.value = line.slope.value;
        line.walk.gradient = line.slope.gradient;
        const double fall = (line.walk.steep - line.steep) / line.steep;  // over the step
        line.walk.steep = line.steep;
        line.trail.advance(line.length);
        const double most = fall > foreseen / most_growth ? foreseen / fall : most_growth;
        line.length = std::min(longest, line.length * std::min(most, std::max(change, 0.3)));
        ++line.steps;
        line.trail.add(line.walk);
        line.end = captured(line.walk, moved ? captures.cell_of(line.walk) : line.spot.cells);
    }

    // Ends of the box at a place, along axes that are not periodic: bits 2 a and 2 a + 1.
    using Walls = unsigned;

    // Moves a place into the box.
    [[gnu::always_inline]] inline Walls inside(Point& at) const {
        Walls walls = 0;
        for (int a = 0; a < 3; ++a) {
            const double length = task.axes[a].length;
            if (at[a] > 0 && at[a] < length) continue;
            if (task.axes[a].periodic) {
                at[a] -= length * std::floor(at[a] / length);
                if (!(at[a] < length)) at[a] = 0;
            } else {
                walls |= Walls(at[a] <= 0) << (2 * a) | Walls(at[a] >= length) << (2 * a + 1);
                at[a] = std::clamp(at[a], 0.0, length);
            }
        }
        return walls;
    }
    // Of the field upwards, of its negative downwards. Across the end of the box nothing leads outwards.
    [[gnu::always_inline]] inline void upwards(Slope& found, Walls walls) const {
        found.value *= task.sign;
        for (int a = 0; a < 3; ++a) {
            double& part = found.gradient[a];
            part *= task.sign;
            if (walls && (((walls >> (2 * a) & 1) && part < 0) || ((walls >> (2 * a + 1) & 1) && part > 0))) part = 0;
        }
    }
    Slope slope(Point at) const {
        const Walls walls = inside(at);
        Slope found = interpolant(at);
        upwards(found, walls);
        return found;
    }

    static void measure(Walk& walk, const Slope& slope) {
        walk.value = slope.value;
        walk.gradient = slope.gradient;
        walk.steep = slope.steepness();
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
    Interpolant<T> interpolant;
    Captures<T> captures;
    std::array<long, directions> beside;  // from a point whose neighbours all lie in the box
};

}  // namespace nearfield::elements
