// One line along the gradient, to the extremum where it ends.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

#include "extrema.hpp"
#include "interpolant.hpp"
#include "lattice.hpp"

namespace nearfield::elements {

// Lengths in units of the smallest spacing.
constexpr double longest_step = 8.0, first_step = 2.0, shortest_step = 1e-3;
constexpr double tolerance = 1e-2;  // of a step's end, over its length
constexpr double least_share = 0.5,
                 most_share = 4.0;     // of the gradient within a step: a saddle lies where it changes more
constexpr double degenerate = 1e-3;    // gradient over the largest difference to a neighbour, at a critical point
constexpr double snap = 0.5;           // cells from a refined extremum along each axis
constexpr double near_end = 1.5;       // the same, of a line that goes no further
constexpr double from_critical = 0.1;  // cells, of a line that starts at a critical point; each later one twice as far
constexpr double from_stalled = 0.01;  // the same of a line that came to one
constexpr double care = 2e-2,
                 great_care = 2e-3;  // share of tolerance and shortest step of such lines: saddles are near
constexpr double rounded = 1e-9;     // cells: less than this below an end is the end
constexpr int attempts = 5, most_steps = 2000;

template <class T>
class Tracer {
public:
    Tracer(const Lattice& lattice, const T* field, double sign, const std::vector<Label>& labels,
           const std::vector<Extremum>& extrema, const std::vector<double>& thresholds)
        : lattice(lattice), field(field), sign(sign), labels(labels), extrema(extrema), thresholds(thresholds),
          interpolant(lattice, field) {}

    // The end of the line from a point. A line that ends at a saddle starts anew, displaced a little by random numbers
    // of the point; `unknown` if all of these do.
    Label operator()(long index) const {
        const Place at = lattice.place(index);
        if (sign * field[index] > thresholds[rank_of(labels[index])]) return labels[index];
        Walk walk{{double(at[0]), double(at[1]), double(at[2])}, {}, {}};
        walk.slope = slope(walk.at);
        const bool critical = walk.slope.steepness() < degenerate * largest_difference(at, index);
        Label found = critical ? unknown : end_of(walk, 1.0);
        double far = critical ? from_critical : from_stalled;
        for (int attempt = 0; attempt < attempts && found == unknown; ++attempt, far *= 2) {
            walk = {{double(at[0]), double(at[1]), double(at[2])}, {}, {}};
            displace(walk, at, index, attempt, far);
            walk.slope = slope(walk.at);
            found = end_of(walk, critical ? great_care : care);
        }
        return found;
    }

private:
    struct Walk {
        Point at;     // in cells, within the box
        Place image;  // of the box, as seen from the start
        Slope slope;
    };

    // Of the field upwards, of its negative downwards. Across the end of the box nothing leads outwards.
    Slope slope(const Point& at) const {
        Slope found = interpolant(closed ? at : inside(at));
        found.value *= sign;
        for (int axis = 0; axis < 3; ++axis) {
            double& part = found.gradient[axis];
            part *= sign;
            if (lattice.periodic[axis]) continue;
            if ((at[axis] <= 0 && part < 0) || (at[axis] >= double(lattice.n[axis] - 1) && part > 0)) part = 0;
        }
        return found;
    }

    Point inside(Point at) const {
        for (int axis = 0; axis < 3; ++axis)
            if (!lattice.periodic[axis]) at[axis] = std::clamp(at[axis], 0.0, double(lattice.n[axis] - 1));
        return at;
    }

    // Bogacki and Shampine's pair of orders 3 and 2 along the unit vector of the gradient, over its length.
    Label end_of(Walk& walk, double share) const {
        const double allowed = tolerance * share, shortest = shortest_step * share;
        double step = first_step;
        for (int n = 0; n < most_steps; ++n) {
            if (const Label found = captured(walk); found != unknown) return found;
            const double steep = walk.slope.steepness();
            if (!(steep > 0)) return stalled(walk);
            for (;;) {
                double error;
                Slope next;
                Point to;
                if (advanced(walk, step, steep, to, next, error) && error <= allowed) {
                    take(walk, to, next);
                    step = std::min(longest_step, step * std::clamp(0.9 * std::sqrt(allowed / error), 0.3, 2.0));
                    break;
                }
                step *= error > allowed ? std::clamp(0.9 * std::sqrt(allowed / error), 0.2, 0.7) : 0.5;
                if (step < shortest) return stalled(walk);
            }
        }
        return stalled(walk);
    }

    // One step and its error over its length; false where the value does not rise, or the gradient changes too much.
    bool advanced(const Walk& walk, double step, double steep, Point& to, Slope& last, double& error) const {
        error = 0.0;
        Point k1, k2, k3, k4;
        along(walk.slope, steep, k1);
        if (!direction(slope(ahead(walk.at, {step / 2}, {&k1})), steep, k2)) return false;
        if (!direction(slope(ahead(walk.at, {0.75 * step}, {&k2})), steep, k3)) return false;
        to = ahead(walk.at, {step * 2 / 9, step / 3, step * 4 / 9}, {&k1, &k2, &k3});
        last = slope(to);
        if (!direction(last, steep, k4) || !(last.value > walk.slope.value)) return false;
        for (int axis = 0; axis < 3; ++axis) {
            const double off = -5.0 / 72 * k1[axis] + k2[axis] / 12 + k3[axis] / 9 - k4[axis] / 8;
            error = std::max(error, std::abs(off));
        }
        error = std::max(error, 1e-12);
        return true;
    }

    // Unit vector of the gradient in cells of each axis.
    void along(const Slope& found, double steep, Point& k) const {
        const double scale = 1 / steep;
        for (int axis = 0; axis < 3; ++axis) k[axis] = found.gradient[axis] * interpolant.scale[axis] * scale;
    }
    // The same; false where the gradient differs too much from that at the step's begin.
    bool direction(const Slope& found, double begin, Point& k) const {
        const double steep = found.steepness();
        if (!(steep >= least_share * begin) || steep > most_share * begin) return false;
        along(found, steep, k);
        return true;
    }

    static Point ahead(const Point& at, std::array<double, 3> lengths, std::array<const Point*, 3> along) {
        Point to = at;
        for (int m = 0; m < 3 && along[m]; ++m)
            for (int axis = 0; axis < 3; ++axis) to[axis] += lengths[m] * (*along[m])[axis];
        return to;
    }

    // Moves on, into the box again on periodic axes and back to its end on others.
    void take(Walk& walk, const Point& to, const Slope& slope) const {
        walk.at = to;
        walk.slope = slope;
        for (int axis = 0; axis < 3; ++axis) {
            const double length = double(lattice.n[axis]);
            double& at = walk.at[axis];
            if (!lattice.periodic[axis]) {
                at = std::clamp(at, 0.0, length - 1);
                continue;
            }
            if (at < 0 && at > -rounded) at = 0;
            const long turns = at < 0 ? -1 : at >= length;
            at -= double(turns) * length;
            walk.image[axis] += turns;
        }
    }

    // The extremum where the line must end: in a cell whose corners belong to it, above the highest value at which any
    // other region begins; or next to it.
    Label captured(const Walk& walk) const {
        Place low;
        for (int axis = 0; axis < 3; ++axis) low[axis] = std::min(long(walk.at[axis]), lattice.n[axis] - 1);
        const Label label = labels[lattice.index(low)];
        if (walk.slope.value > thresholds[rank_of(label)] && whole(low, label)) return moved(label, walk.image);
        return within(walk, snap);
    }

    // A line that goes no further has come to an extremum, or to a saddle.
    Label stalled(const Walk& walk) const { return within(walk, near_end); }

    Label within(const Walk& walk, double most) const {
        Place nearest, image = walk.image;
        for (int axis = 0; axis < 3; ++axis) {
            nearest[axis] = std::lround(walk.at[axis]);
            if (nearest[axis] < lattice.n[axis]) continue;
            nearest[axis] = lattice.periodic[axis] ? 0 : lattice.n[axis] - 1;
            image[axis] += lattice.periodic[axis];
        }
        const Label label = labels[lattice.index(nearest)];
        const Place shift = image_of(label);
        const Point& place = extrema[rank_of(label)].place;
        for (int axis = 0; axis < 3; ++axis) {
            const double there = place[axis] + double((shift[axis] + image[axis] - walk.image[axis]) * lattice.n[axis]);
            if (std::abs(walk.at[axis] - there) > most) return unknown;
        }
        return moved(label, image);
    }

    // Whether all corners of a cell have the label of its lowest one.
    bool whole(const Place& low, Label label) const {
        for (int corner = 1; corner < 8; ++corner) {
            Site to;
            if (!lattice.neighbour(low, {corner >> 2, corner >> 1 & 1, corner & 1}, to)) continue;
            if (moved(labels[to.index], to.image) != label) return false;
        }
        return true;
    }

    double largest_difference(const Place& at, long index) const {
        double most = 0.0;
        for (int d = 0; d < directions; ++d) {
            Site to;
            if (lattice.neighbour(at, step_of(d), to))
                most = std::max(most, std::abs(double(field[to.index]) - double(field[index])));
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
        const double value = field[index];
        return std::bit_cast<std::uint64_t>(value) & ((std::uint64_t{1} << 52) - 1);
    }
    // Random numbers of the values at a point and beside it, so that shifted and turned fields have the same lines; of the
    // point's number where two of these values are equal.
    void displace(Walk& walk, const Place& at, long index, int attempt, double far) const {
        std::uint64_t key[3] = {0, 1, 2};
        std::vector<std::uint64_t> all{digits(index)};
        for (int axis = 0; axis < 3; ++axis) {
            Place step{};
            step[axis] = 1;
            Site to;
            if (lattice.n[axis] > 1 && lattice.neighbour(at, step, to)) all.push_back(key[axis] = digits(to.index));
        }
        std::sort(all.begin(), all.end());
        const bool equal = std::adjacent_find(all.begin(), all.end()) != all.end();
        const std::uint64_t own = equal ? std::uint64_t(index) : digits(index);
        Point to = walk.at;
        for (int axis = 0; axis < 3; ++axis) {
            if (lattice.n[axis] == 1) continue;
            const auto bits =
                mixed(mixed(mixed(own) ^ (equal ? std::uint64_t(axis) : key[axis])) + std::uint64_t(attempt));
            to[axis] += far * (2 * (double(bits >> 11) * 0x1p-53) - 1);
        }
        take(walk, to, {});
    }

    const Lattice& lattice;
    const T* field;
    double sign;
    bool closed = lattice.periodic[0] && lattice.periodic[1] && lattice.periodic[2];
    const std::vector<Label>& labels;
    const std::vector<Extremum>& extrema;
    const std::vector<double>& thresholds;
    Interpolant<T> interpolant;
};

}  // namespace nearfield::elements
