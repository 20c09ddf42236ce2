#include "elements/cells.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

namespace nearfield::elements {

namespace {

// Derivative at one of three points, of the parabola through them: weights of the three.
std::array<double, 3> slope(const std::array<double, 3>& x, double at) {
    std::array<double, 3> weight;
    for (int m = 0; m < 3; ++m) {
        const double a = x[(m + 1) % 3], b = x[(m + 2) % 3];
        weight[m] = ((at - a) + (at - b)) / ((x[m] - a) * (x[m] - b));
    }
    return weight;
}

// Adds the cell between the points `at` and `at` + 1; `position(m)` of any point, those of other periods too.
template <class T, class Position>
void add_cell(const Lattice& lattice, int number, long at, const Position& position, Axis<T>& axis) {
    const long n = lattice.n[number];
    const bool open = !lattice.periodic[number];
    Cell made{};
    made.begin = position(at), made.end = position(at + 1);
    const double width = made.end - made.begin;
    made.per_length = 1 / (axis.width > 0 ? axis.width : width);
    double bend[2][4] = {};  // of the slopes at both ends, times the width
    for (int end = 0; end < 2; ++end) {
        const long middle = open ? std::clamp(at + end, 1L, n - 2) : at + end;
        const auto weight = slope({position(middle - 1), position(middle), position(middle + 1)}, position(at + end));
        for (int m = 0; m < 3; ++m) bend[end][middle - at + m] = width * weight[m];
    }
    Polynomials<T> weights;
    std::array<long, 4> points;
    for (int m = 0; m < 4; ++m) {
        const double rise = m == 1 ? -1 : m == 2 ? 1 : 0;
        weights.of[0][m] = T(m == 1);
        weights.of[1][m] = T(bend[0][m]);
        weights.of[2][m] = T(3 * rise - 2 * bend[0][m] - bend[1][m]);
        weights.of[3][m] = T(-2 * rise + bend[0][m] + bend[1][m]);
        const long point = at - 1 + m;
        points[m] = open ? std::clamp(point, 0L, n - 1) : (point + n) % n;
    }
    made.first = at >= 1 && at + 2 < n ? int(at - 1) : -1;
    const auto alike = [&](const Polynomials<T>& other) { return std::memcmp(&other, &weights, sizeof(weights)) == 0; };
    if (axis.weights.empty() || !alike(axis.weights.back())) axis.weights.push_back(weights);
    made.weights = int(axis.weights.size()) - 1;
    axis.cells.push_back(made);
    axis.points.push_back(points);
}

}  // namespace

double least_width(const Lattice& lattice) {
    double least = 0.0;
    for (int axis = 0; axis < 3; ++axis)
        for (const double width : lattice.widths[axis])
            if (lattice.n[axis] > 1 && (least == 0.0 || width < least)) least = width;
    return least;
}

template <class T>
std::array<Axis<T>, 3> axes_of(const Lattice& lattice) {
    const double least = least_width(lattice);
    std::array<Axis<T>, 3> axes;
    for (int number = 0; number < 3; ++number) {
        Axis<T>& axis = axes[number];
        axis.n = lattice.n[number];
        axis.periodic = lattice.periodic[number];
        std::vector<double> ends{0.0};
        if (axis.n > 1)
            for (const double width : lattice.widths[number]) ends.push_back(ends.back() + width / least);
        axis.length = ends.back();
        axis.position.assign(ends.begin(), ends.begin() + axis.n);
        if (axis.n == 1) {
            Polynomials<T> still{};
            still.of[0][1] = 1;
            axis.weights = {still}, axis.points = {{}}, axis.cells = {{0, 0, 0, -1, 0}};
        }
        // a period of equal widths is one multiplication, so that positions are as exact as the points' numbers
        const bool equal = std::all_of(lattice.widths[number].begin(), lattice.widths[number].end(),
                                       [&](double width) { return width == lattice.widths[number][0]; });
        const double width = lattice.widths[number][0] / least;
        if (equal && axis.n > 1) {
            axis.length = double(ends.size() - 1) * width;
            axis.width = width;
            for (long m = 0; m < axis.n; ++m) axis.position[m] = double(m) * width;
        }
        const auto position = [&](long m) {
            if (equal) return double(m) * width;
            return m < 0         ? axis.position[m + axis.n] - axis.length
                   : m >= axis.n ? axis.position[m - axis.n] + axis.length
                                 : axis.position[m];
        };
        for (long at = 0; axis.n > 1 && at + 1 < long(ends.size()); ++at) add_cell(lattice, number, at, position, axis);
        long cell = 0;
        for (long bucket = 0; bucket < long(axis.length * axis.buckets_a_length) + 2; ++bucket) {
            const double begin = double(bucket) / axis.buckets_a_length;
            while (cell + 1 < long(axis.cells.size()) && axis.cells[cell].end <= begin) ++cell;
            axis.first.push_back(cell);
        }
        axis.cells.back().end = std::numeric_limits<double>::infinity();
    }
    return axes;
}

template std::array<Axis<float>, 3> axes_of<float>(const Lattice&);
template std::array<Axis<double>, 3> axes_of<double>(const Lattice&);

}  // namespace nearfield::elements
