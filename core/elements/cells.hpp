// Cubic polynomials between the points of an axis: the values of two points and slopes there, each of the parabola through
// the point and its two neighbours (its first or last three points at the ends of an axis that is not periodic). On equal
// widths this is the cubic convolution of Catmull and Rom; the derivative is continuous on any.
#pragma once

#include <vector>

#include "lattice.hpp"

namespace nearfield::elements {

// Polynomials of four points as polynomials of t, 0 at the cell's first point and 1 at its last.
template <class T>
struct alignas(16 * sizeof(T)) Polynomials {
    T of[4][4];  // of t^0, t^1, t^2, t^3
};

// Lengths in units of the smallest width of the lattice.
struct Cell {
    double begin, end, per_length;  // the last cell of an axis has no end
    int first;                      // of its four points, where they follow one another, else -1
    int weights;                    // number of its weights
};

template <class T>
struct Axis {
    long n;
    bool periodic;
    double length;                            // of a period, or to the last point
    double width = 0;                         // of all cells, where they have one and there are any
    std::vector<Cell> cells;                  // an axis of one point has one, in which nothing changes
    std::vector<Polynomials<T>> weights;      // of the cells; cells with the same ones share them
    std::vector<std::array<long, 4>> points;  // of each cell
    std::vector<long> first;                  // cell at the begin of each bucket; a bucket holds at most one point
    std::vector<double> position;             // of the points

    long cell_at(double at) const {
        const long bucket = first.data()[long(at * buckets_a_length)];
        return bucket + long(at >= cells.data()[bucket].end);
    }
    static constexpr double buckets_a_length = 1.001;
};

template <class T>
std::array<Axis<T>, 3> axes_of(const Lattice& lattice);

// The smallest width between points.
double least_width(const Lattice& lattice);

}  // namespace nearfield::elements
