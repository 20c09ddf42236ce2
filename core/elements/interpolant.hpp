// A smooth function through the points of a grid: cubic convolution (Catmull and Rom) along each axis, with a continuous
// gradient. At the ends of an axis that is not periodic the parabola through its last three points goes on.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <type_traits>

#include "lattice.hpp"

namespace nearfield::elements {

// Value, and gradient in units of the field over the smallest spacing.
struct Slope {
    double value;
    Point gradient;
    double steepness() const {
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
inline void add(Four32& to, int n, float value) { to[n] += value; }
inline void add(Four64& to, int n, double value) { (n < 2 ? to.low : to.high)[n % 2] += value; }

template <class T>
class Interpolant {
public:
    using Four = std::conditional_t<sizeof(T) == 4, Four32, Four64>;

    Interpolant(const Lattice& lattice, const T* field) : lattice(lattice), field(field) {
        double least = 0.0;
        for (int axis = 0; axis < 3; ++axis)
            if (lattice.n[axis] > 1 && (least == 0.0 || lattice.spacing[axis] < least)) least = lattice.spacing[axis];
        for (int axis = 0; axis < 3; ++axis) scale[axis] = lattice.n[axis] > 1 ? least / lattice.spacing[axis] : 0.0;
    }

    // Cells of each axis over the smallest spacing; 0 for an axis of one point.
    Point scale;

    // Sixteen rows of four points, each read once.
    Slope operator()(const Point& at) const {
        const Axis x = axis(0, at[0]), y = axis(1, at[1]), z = axis(2, at[2]);
        if (x.inner && y.inner && z.inner) {
            const T* const corner = field + (x.first * lattice.n[1] + y.first) * lattice.n[2] + z.first;
            return summed(x, y, z, [&](int i, int j) { return four(corner + (i * lattice.n[1] + j) * lattice.n[2]); });
        }
        long rows[4], columns[4], places[4];
        wrapped(0, x.first, rows);
        wrapped(1, y.first, columns);
        wrapped(2, z.first, places);
        return summed(x, y, z, [&](int i, int j) {
            const T* const row = field + (rows[i] * lattice.n[1] + columns[j]) * lattice.n[2];
            return Four{row[places[0]], row[places[1]], row[places[2]], row[places[3]]};
        });
    }

private:
    // Weights of the four points from `first` on, of the value and of its derivative.
    struct Axis {
        long first;
        bool inner;  // all four lie in the box
        Four value, slope;
    };

    template <class Read>
    [[gnu::always_inline]] inline Slope summed(const Axis& x, const Axis& y, const Axis& z, const Read& read) const {
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
        return {
            total(whole * z.value),
            {total(by_x * z.value) * scale[0], total(by_y * z.value) * scale[1], total(whole * z.slope) * scale[2]}};
    }

    [[gnu::always_inline]] inline Axis axis(int number, double at) const {
        const long n = lattice.n[number];
        if (n == 1) return {-1, false, Four{0, 1, 0, 0}, Four{}};
        const bool open = !lattice.periodic[number];
        long whole = long(at);
        whole -= at < double(whole);
        if (open) whole = std::min(std::max(whole, 0L), n - 2);
        const T t = T(at - double(whole));
        constexpr T half = T(0.5);
        const Four none = {0, 1, 0, 0}, one = {-half, 0, half, 0}, two = {1, T(-2.5), 2, -half},
                   three = {-half, T(1.5), T(-1.5), half};
        Axis made{whole - 1, whole >= 1 && whole + 2 < n, none + t * (one + t * (two + t * three)),
                  one + t * (2 * two + (3 * t) * three)};
        if (open && whole < 1) extend(made, 0, 1);
        if (open && whole + 2 >= n) extend(made, 3, -1);
        return made;
    }

    // A point outside is three times the first inside, less three times the second, plus the third.
    static void extend(Axis& axis, int outside, int inwards) {
        for (Four* const w : {&axis.value, &axis.slope}) {
            const T weight = (*w)[outside];
            add(*w, outside + inwards, 3 * weight);
            add(*w, outside + 2 * inwards, -3 * weight);
            add(*w, outside + 3 * inwards, weight);
            add(*w, outside, -weight);
        }
    }

    // The four points from `first` on; outside of an open axis, where weights are zero, its end.
    void wrapped(int axis, long first, long* to) const {
        const long n = lattice.n[axis];
        for (int m = 0; m < 4; ++m) {
            const long at = first + m;
            if (lattice.periodic[axis])
                to[m] = at < 0 ? at + n : at >= n ? at - n : at;
            else
                to[m] = std::min(std::max(at, 0L), n - 1);
        }
    }

    static Four four(const T* from) {
        Four made;
        std::memcpy(static_cast<void*>(&made), from, sizeof(made));
        return made;
    }
    static double total(Four f) { return (double(f[0]) + double(f[1])) + (double(f[2]) + double(f[3])); }

    const Lattice& lattice;
    const T* field;
};

}  // namespace nearfield::elements
