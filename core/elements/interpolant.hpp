// A smooth function through the points of a grid: products of the cubic polynomials of cells.hpp along the axes, with a
// continuous gradient.
#pragma once

#include <cmath>
#include <cstring>
#include <type_traits>

#include "cells.hpp"

namespace nearfield::elements {

// Value, and gradient in units of the field over the smallest width.
struct Slope {
    double value;
    Point gradient;
    [[gnu::always_inline]] double steepness() const {
        return std::sqrt(gradient[0] * gradient[0] + gradient[1] * gradient[1] + gradient[2] * gradient[2]);
    }
};

// Four numbers in registers of 16 bytes, which every processor has: in one of them, or in two.
typedef float Four32 __attribute__((vector_size(16)));
struct Four64 {
    typedef double Two __attribute__((vector_size(16)));
    Two low, high;

    Four64() : low{}, high{} {}
    Four64(double a, double b, double c, double d) : low{a, b}, high{c, d} {}
    Four64(Two low, Two high) : low(low), high(high) {}
    double operator[](int n) const { return n < 2 ? low[n] : high[n - 2]; }
    friend Four64 operator+(const Four64& a, const Four64& b) { return {a.low + b.low, a.high + b.high}; }
    friend Four64 operator*(const Four64& a, const Four64& b) { return {a.low * b.low, a.high * b.high}; }
    friend Four64 operator*(double a, const Four64& b) { return {a * b.low, a * b.high}; }
    Four64& operator+=(const Four64& b) { return *this = *this + b; }
};

template <class T>
class Interpolant {
public:
    using Four = std::conditional_t<sizeof(T) == 4, Four32, Four64>;

    Interpolant(const std::array<Axis<T>, 3>& axes, const T* field) : axes(axes), field(field) {}

    // Of one axis at a place: weights of four points in the value and in the derivative by t.
    struct Along {
        Four value, slope;
    };
    // A place: the cell along each axis and the weights of its points.
    struct Spot {
        std::array<long, 3> cells;
        std::array<Along, 3> weights;
    };

    // A place within the box.
    [[gnu::always_inline]] inline Spot spot(const Point& at) const {
        Spot made;
        for (int axis = 0; axis < 3; ++axis) {
            made.cells[axis] = axes[axis].cell_at(at[axis]);
            made.weights[axis] = along(axes[axis], made.cells[axis], at[axis]);
        }
        return made;
    }

    // Reads sixteen rows of four points, each once: 256 bytes of single precision.
    [[gnu::always_inline]] inline Slope operator()(const Spot& spot) const {
        const Cell &x = cell(spot, 0), &y = cell(spot, 1), &z = cell(spot, 2);
        const long rows = axes[1].n, points = axes[2].n;
        if (x.first >= 0 && y.first >= 0 && z.first >= 0) {
            const T* const corner = field + (x.first * rows + y.first) * points + z.first;
            const long plane = rows * points;
            return summed(spot, [&](int i, int j) { return four(corner + i * plane + j * points); });
        }
        const auto at = [&](int axis) { return axes[axis].points[spot.cells[axis]].data(); };
        const long *const i_of = at(0), *const j_of = at(1), *const k_of = at(2);
        return summed(spot, [&](int i, int j) {
            const T* const row = field + (i_of[i] * rows + j_of[j]) * points;
            return Four{row[k_of[0]], row[k_of[1]], row[k_of[2]], row[k_of[3]]};
        });
    }
    Slope operator()(const Point& at) const { return (*this)(spot(at)); }

private:
    [[gnu::always_inline]] inline const Cell& cell(const Spot& spot, int axis) const {
        return axes[axis].cells.data()[spot.cells[axis]];
    }
    [[gnu::always_inline]] inline static Along along(const Axis<T>& axis, long number, double at) {
        const Cell& cell = axis.cells.data()[number];
        const auto& weights = axis.weights.data()[cell.weights].of;
        const T t = T((at - cell.begin) * cell.per_length);
        const Four one = four(weights[1]), two = four(weights[2]), three = four(weights[3]);
        return {four(weights[0]) + t * (one + t * (two + t * three)), one + t * (T(2) * two + (T(3) * t) * three)};
    }

    template <class Read>
    [[gnu::always_inline]] inline Slope summed(const Spot& spot, const Read& read) const {
        const auto& [x, y, z] = spot.weights;
        Four whole{}, by_x{}, by_y{};
        for (int i = 0; i < 4; ++i) {
            Four sum{}, slope{};
            for (int j = 0; j < 4; ++j) {
                const Four row = read(i, j);
                sum += y.value[j] * row;
                slope += y.slope[j] * row;
            }
            whole += x.value[i] * sum;
            by_x += x.slope[i] * sum;
            by_y += x.value[i] * slope;
        }
        return {total(whole * z.value),
                {sum(by_x * z.value) * cell(spot, 0).per_length, sum(by_y * z.value) * cell(spot, 1).per_length,
                 sum(whole * z.slope) * cell(spot, 2).per_length}};
    }

    static Four four(const T* from) {
        Four made;
        std::memcpy(static_cast<void*>(&made), from, sizeof(made));
        return made;
    }
    static double sum(const Four& f) { return (f[0] + f[2]) + (f[1] + f[3]); }
    // In double precision, so that the value still rises near an extremum.
    static double total(const Four& f) { return (double(f[0]) + double(f[1])) + (double(f[2]) + double(f[3])); }

    const std::array<Axis<T>, 3>& axes;
    const T* field;
};

}  // namespace nearfield::elements
