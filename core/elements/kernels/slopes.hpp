// Value and gradient of a terrain at places in hand. Loops over lanes hold one statement each where they can, which
// compilers turn into vectors.
#pragma once

#include <cmath>
#include <cstring>
#include <utility>

#include "cpu/rows/vectors.hpp"
#include "elements/kernels.hpp"

namespace nearfield::elements::NEARFIELD_ISA {

#define NEARFIELD_INLINE [[gnu::always_inline]] inline

using Doubles = double[lanes];
using Flags = long[lanes];

// Moves places into the box; whether some lie at an end of it, along an axis that is not periodic. There a slope below
// `low` or above `high` leads outwards.
template <class T>
NEARFIELD_INLINE bool fold(const typename Terrain<T>::Along& axis, Doubles& at, Doubles& low, Doubles& high) {
    const double length = axis.length;
    int outside = 0;
    for (int m = 0; m < lanes; ++m) outside |= !(at[m] > 0) | !(at[m] < length);
    if (!outside) return false;
    if (axis.periodic) {
        for (int m = 0; m < lanes; ++m) {
            const double to = at[m] - length * std::floor(at[m] / length), inside = to < length ? to : 0;
            at[m] = at[m] > 0 && at[m] < length ? at[m] : inside;
        }
        return false;
    }
    for (int m = 0; m < lanes; ++m) {
        low[m] = at[m] <= 0 ? 0.0 : -HUGE_VAL;
        high[m] = at[m] >= length ? 0.0 : HUGE_VAL;
        const double above = at[m] > 0 ? at[m] : 0;
        at[m] = above < length ? above : length;
    }
    return true;
}

// The cell of each place, how far in it the place lies, from 0 to 1, and the derivative of that.
template <class T>
NEARFIELD_INLINE void locate(const typename Terrain<T>::Along& axis, const Doubles& at, int (&cell)[lanes],
                             T (&t)[lanes], Doubles& per_length) {
    if (axis.width == 1) {  // the usual one
        for (int m = 0; m < lanes; ++m) cell[m] = int(at[m]);
        for (int m = 0; m < lanes; ++m) cell[m] = cell[m] < int(axis.last) ? cell[m] : int(axis.last);
        for (int m = 0; m < lanes; ++m) t[m] = T(at[m] - cell[m]);
        for (int m = 0; m < lanes; ++m) per_length[m] = 1;
        return;
    }
    if (axis.width > 0) {
        const double width = axis.width, per_width = axis.per_width;
        const int last = int(axis.last);
        for (int m = 0; m < lanes; ++m) {
            int c = int(at[m] * per_width);
            c -= at[m] < c * width;
            c += at[m] >= (c + 1) * width;
            c = c < last ? c : last;
            cell[m] = c;
            t[m] = T((at[m] - c * width) * per_width);
            per_length[m] = per_width;
        }
        return;
    }
    for (int m = 0; m < lanes; ++m) {
        const long bucket = axis.first[long(at[m] * Axis<T>::buckets_a_length)];
        const long c = bucket + long(at[m] >= axis.cells[bucket].end);
        cell[m] = int(c);
        t[m] = T((at[m] - axis.cells[c].begin) * axis.cells[c].per_length);
        per_length[m] = axis.cells[c].per_length;
    }
}

// Weights of four points along each axis in the value and in the derivative by t.
template <class T>
struct alignas(64) Weights {
    T value[3][4][lanes], slope[3][4][lanes];
    double per_length[3][lanes];
};

// `of(power, point, lane)` are coefficients of t.
template <class T, class Of>
NEARFIELD_INLINE void weight(const T (&t)[lanes], T (&value)[4][lanes], T (&slope)[4][lanes], const Of& of) {
    for (int p = 0; p < 4; ++p)
        for (int m = 0; m < lanes; ++m) {
            const T one = of(1, p, m), two = of(2, p, m), three = of(3, p, m);
            value[p][m] = of(0, p, m) + t[m] * (one + t[m] * (two + t[m] * three));
            slope[p][m] = one + t[m] * (T(2) * two + (T(3) * t[m]) * three);
        }
}
template <class T>
NEARFIELD_INLINE void weight_cells(const typename Terrain<T>::Along& axis, const int (&cell)[lanes],
                                   const T (&t)[lanes], T (&value)[4][lanes], T (&slope)[4][lanes]) {
    if (axis.alike) {
        weight(t, value, slope, [&](int power, int p, int) { return axis.weights->of[power][p]; });
        return;
    }
    alignas(64) T of[4][4][lanes];
    for (int m = 0; m < lanes; ++m) {
        const auto& own = axis.weights[axis.cells[cell[m]].weights].of;
        for (int power = 0; power < 4; ++power)
            for (int p = 0; p < 4; ++p) of[power][p][m] = own[power][p];
    }
    weight(t, value, slope, [&](int power, int p, int m) { return of[power][p][m]; });
}

// Four points along z in sixteen rows around each place: 256 bytes of single precision.
template <class T>
using Rows = T[16][lanes][4];

template <class T>
NEARFIELD_INLINE void read(const Terrain<T>& terrain, const int (&cell)[3][lanes], const Flags& wanted, Rows<T>& rows) {
    const auto &x = terrain.axes[0], &y = terrain.axes[1], &z = terrain.axes[2];
    for (int m = 0; m < lanes; ++m) {
        if (!wanted[m]) continue;
        const long *const i = x.points[cell[0][m]], *const j = y.points[cell[1][m]], *const k = z.points[cell[2][m]];
        const T* planes[4];
        long starts[4];
        for (int p = 0; p < 4; ++p) planes[p] = terrain.field + i[p] * y.n * z.n, starts[p] = j[p] * z.n;
        if (const long first = z.cells[cell[2][m]].first; first >= 0) {  // which follow one another
#pragma GCC unroll 16
            for (int r = 0; r < 16; ++r) std::memcpy(rows[r][m], planes[r >> 2] + starts[r & 3] + first, 4 * sizeof(T));
            continue;
        }
        for (int r = 0; r < 16; ++r)
            for (int p = 0; p < 4; ++p) rows[r][m][p] = planes[r >> 2][starts[r & 3] + k[p]];
    }
}

using nearfield::NEARFIELD_ISA::load, nearfield::NEARFIELD_ISA::store;
template <class T>
using Wide = typename nearfield::NEARFIELD_ISA::Vector<T>::type;
template <class T>
constexpr int width = int(nearfield::NEARFIELD_ISA::Vector<T>::width);

// Every second number of two vectors, from the first or from the second on.
template <class T, int first, int... numbers>
NEARFIELD_INLINE Wide<T> half(const Wide<T>& a, const Wide<T>& b, std::integer_sequence<int, numbers...>) {
    return __builtin_shufflevector(a, b, (2 * numbers + first)...);
}
// Rows of four, one after the other: a vector of their first numbers, one of their second ones, ...
template <class T>
NEARFIELD_INLINE void transpose(const T (*rows)[4], Wide<T> (&made)[4]) {
    using V = Wide<T>;
    constexpr int n = width<T>;
    constexpr auto all = std::make_integer_sequence<int, n>();
    const T* const from = rows[0];
    const V a = load(from), b = load(from + n), c = load(from + 2 * n), d = load(from + 3 * n);
    const V even = half<T, 0>(a, b, all), later_even = half<T, 0>(c, d, all);
    const V odd = half<T, 1>(a, b, all), later_odd = half<T, 1>(c, d, all);
    made[0] = half<T, 0>(even, later_even, all), made[2] = half<T, 1>(even, later_even, all);
    made[1] = half<T, 0>(odd, later_odd, all), made[3] = half<T, 1>(odd, later_odd, all);
}

// Of the sixty-four points around each place: the value's sums over x and y, and the gradient by t.
template <class T>
struct alignas(64) Sums {
    T value[4][lanes], gradient[3][lanes];
};

template <class T>
NEARFIELD_INLINE void sum(const Rows<T>& rows, const Weights<T>& weights, Sums<T>& made) {
    using V = Wide<T>;
    const auto &x = weights.value[0], &y = weights.value[1], &z = weights.value[2];
    const auto &by_x = weights.slope[0], &by_y = weights.slope[1], &by_z = weights.slope[2];
    for (int m = 0; m < lanes; m += width<T>) {
        V whole[4]{}, along_x[4]{}, along_y[4]{};
#pragma GCC unroll 4
        for (int i = 0; i < 4; ++i) {
            V value[4]{}, slope[4]{};
#pragma GCC unroll 4
            for (int j = 0; j < 4; ++j) {
                V row[4];
                transpose<T>(rows[4 * i + j] + m, row);
                const V here = load(y[j] + m), change = load(by_y[j] + m);
#pragma GCC unroll 4
                for (int k = 0; k < 4; ++k) value[k] += here * row[k], slope[k] += change * row[k];
            }
            const V here = load(x[i] + m), change = load(by_x[i] + m);
#pragma GCC unroll 4
            for (int k = 0; k < 4; ++k) {
                whole[k] += here * value[k];
                along_x[k] += change * value[k];
                along_y[k] += here * slope[k];
            }
        }
        const auto over_z = [m](const V* part, const T(&of)[4][lanes]) __attribute__((always_inline)) {
            return (part[0] * load(of[0] + m) + part[2] * load(of[2] + m)) +
                   (part[1] * load(of[1] + m) + part[3] * load(of[3] + m));
        };
#pragma GCC unroll 4
        for (int k = 0; k < 4; ++k) store(made.value[k] + m, whole[k] * load(z[k] + m));
        store(made.gradient[0] + m, over_z(along_x, z));
        store(made.gradient[1] + m, over_z(along_y, z));
        store(made.gradient[2] + m, over_z(whole, by_z));
    }
}

// Where wanted; moves places into the box.
template <class T>
NEARFIELD_INLINE void measure(const Terrain<T>& terrain, double (&at)[3][lanes], const Flags& wanted, Slopes& made) {
    Weights<T> weights;
    alignas(64) double low[3][lanes], high[3][lanes];
    bool ends[3];
    for (int a = 0; a < 3; ++a) {
        const auto& axis = terrain.axes[a];
        alignas(64) T t[lanes];
        ends[a] = fold<T>(axis, at[a], low[a], high[a]);
        locate<T>(axis, at[a], made.cell[a], t, weights.per_length[a]);
        weight_cells<T>(axis, made.cell[a], t, weights.value[a], weights.slope[a]);
    }
    alignas(64) Rows<T> rows;
    read(terrain, made.cell, wanted, rows);
    Sums<T> sums;
    sum<T>(rows, weights, sums);
    const double sign = terrain.sign;
    const auto& v = sums.value;
    for (int m = 0; m < lanes; ++m)  // in double precision, so that the value still rises near an extremum
        made.value[m] = sign * ((double(v[0][m]) + double(v[1][m])) + (double(v[2][m]) + double(v[3][m])));
    for (int a = 0; a < 3; ++a) {
        auto& part = made.gradient[a];
        for (int m = 0; m < lanes; ++m) part[m] = sign * (double(sums.gradient[a][m]) * weights.per_length[a][m]);
        if (!ends[a]) continue;
        for (int m = 0; m < lanes; ++m) {
            part[m] = part[m] < low[a][m] ? 0 : part[m];
            part[m] = part[m] > high[a][m] ? 0 : part[m];
        }
    }
    const auto& g = made.gradient;
    for (int m = 0; m < lanes; ++m)
        made.steep[m] = std::sqrt(g[0][m] * g[0][m] + g[1][m] * g[1][m] + g[2][m] * g[2][m]);
}

template <class T>
void slopes(const Terrain<T>& terrain, const double (*at)[lanes], long count, Slopes& made) {
    alignas(64) double inside[3][lanes]{};
    alignas(64) Flags wanted;
    for (int m = 0; m < lanes; ++m) wanted[m] = m < count ? 1 : 0;
    for (int a = 0; a < 3; ++a) std::memcpy(inside[a], at[a], std::size_t(count) * sizeof(double));
    measure(terrain, inside, wanted, made);
}

}  // namespace nearfield::elements::NEARFIELD_ISA
