// What the gradient can do on the low faces of a row's cells.
#pragma once

#include "elements/kernels/slopes.hpp"

namespace nearfield::elements::NEARFIELD_ISA {

// The least and the largest coefficient so far, of each cell.
template <class T>
struct Bounds {
    T low[block], high[block];

    NEARFIELD_INLINE void begin(const T* row, long count) {
        for (long k = 0; k < count; ++k) low[k] = high[k] = row[k];
    }
    NEARFIELD_INLINE void add(const T* row, long count) {
        for (long k = 0; k < count; ++k) {
            low[k] = row[k] < low[k] ? row[k] : low[k];
            high[k] = row[k] > high[k] ? row[k] : high[k];
        }
    }
    // Within rounding nothing is known of a sign.
    NEARFIELD_INLINE void mark(int axis, long count, std::uint8_t* made) const {
        constexpr T doubt = 64 * (sizeof(T) == 4 ? T(0x1p-23) : T(0x1p-52));
        for (long k = 0; k < count; ++k) {
            const T below = low[k] < 0 ? -low[k] : low[k], above = high[k] < 0 ? -high[k] : high[k];
            const T size = doubt * (below > above ? below : above);
            made[k] |= std::uint8_t((int(low[k] <= size) * falls | int(high[k] >= -size) * rises) << 2 * axis);
        }
    }
};

template <class T>
NEARFIELD_INLINE void inner_two(const Bernstein<T>& of, const T* const (&rows)[4], T* first, T* second, long count) {
    const T *const a = rows[0], *const b = rows[1], *const c = rows[2], *const d = rows[3];
    for (long k = 0; k < count; ++k) {
        first[k] = (of.first[0] * a[k] + of.first[1] * b[k]) + (of.first[2] * c[k] + of.first[3] * d[k]);
        second[k] = (of.second[0] * a[k] + of.second[1] * b[k]) + (of.second[2] * c[k] + of.second[3] * d[k]);
    }
}
// Slopes at the second of four points in as many rows; `of(point, k)` are weights.
template <class T, class Of>
NEARFIELD_INLINE void slopes_between(const Of& of, const T* const (&rows)[4], long count, T* to) {
    const T *const a = rows[0], *const b = rows[1], *const c = rows[2], *const d = rows[3];
    for (long k = 0; k < count; ++k)
        to[k] = (of(0, k) * (a[k] - b[k]) + of(2, k) * (c[k] - b[k])) + of(3, k) * (d[k] - b[k]);
}

// Faces across x or y, on which the gradient's part lies in four rows beside one another, or in one; each begins one point
// before the first cell.
template <class T>
NEARFIELD_INLINE void along_row(const Surroundings<T>& around, const Bernstein<T>* beside, const T* const (&rows)[4],
                                long count, Bounds<T>& bounds) {
    T first[block + 3], second[block + 3];
    const bool deep = around.z[0] != nullptr;
    const long before = deep ? 1 : 0, points = deep ? count + 3 : count;
    if (beside) inner_two(*beside, rows, first, second, points);
    const T* const coefficients[4] = {rows[1], rows[2], first, second};
    for (int q = 0; q < (beside ? 4 : 1); ++q) {
        const T* const u = coefficients[q];
        if (q == 0)
            bounds.begin(u + before, count);
        else
            bounds.add(u + before, count);
        if (!deep) continue;
        bounds.add(u + 2, count);
        for (int inner = 0; inner < 2; ++inner) {
            const T* const w = around.z[inner];
            const long far = around.cells;
            T row[block];
            for (long k = 0; k < count; ++k)
                row[k] =
                    (w[k] * u[k] + w[far + k] * u[k + 1]) + (w[2 * far + k] * u[k + 2] + w[3 * far + k] * u[k + 3]);
            bounds.add(row, count);
        }
    }
}

template <class T>
void faces(const Surroundings<T>& around, int axes, long count, std::uint8_t* made) {
    Bounds<T> bounds;
    T rows[4][4][block + 3];
    const long before = around.z[0] ? 1 : 0, points = around.z[0] ? count + 3 : count;
    for (int a = 0; a < 2; ++a) {
        if (!(axes & 1 << a)) continue;
        const Bernstein<T>* const beside = around.beside[1 - a];
        for (int r = beside ? 0 : 1; r < (beside ? 4 : 2); ++r) {
            const T* of[4];
            for (int m = 0; m < 4; ++m) of[m] = (a ? around.rows[r][m] : around.rows[m][r]) - before;
            const T* const weight = around.beside[a]->slope;
            slopes_between([weight](int m, long) { return weight[m]; }, of, points, rows[0][r]);
        }
        along_row(around, beside, {rows[0][0], rows[0][1], rows[0][2], rows[0][3]}, count, bounds);
        bounds.mark(a, count, made);
    }
    if (!(axes & 4)) return;
    const Bernstein<T>*const x = around.beside[0], *const y = around.beside[1];
    const T* const w = around.z[2];
    const long far = around.cells;
    const int first_row = y ? 0 : 1, last_row = y ? 4 : 2;
    for (int r = first_row; r < last_row; ++r) {
        T slopes[4][block];
        for (int p = x ? 0 : 1; p < (x ? 4 : 2); ++p) {
            const T* const f = around.rows[p][r];
            slopes_between([w, far](int m, long k) { return w[m * far + k]; }, {f - 1, f, f + 1, f + 2}, count,
                           slopes[p]);
        }
        for (int p = 1; p < (x ? 3 : 2); ++p)
            for (long k = 0; k < count; ++k) rows[p][r][k] = slopes[p][k];
        if (x) inner_two(*x, {slopes[0], slopes[1], slopes[2], slopes[3]}, rows[0][r], rows[3][r], count);
    }
    for (int p = x ? 0 : 1; p < (x ? 4 : 2); ++p) {
        if (p == (x ? 0 : 1))
            bounds.begin(rows[p][1], count);
        else
            bounds.add(rows[p][1], count);
        if (!y) continue;
        bounds.add(rows[p][2], count);
        T first[block], second[block];
        inner_two(*y, {rows[p][0], rows[p][1], rows[p][2], rows[p][3]}, first, second, count);
        bounds.add(first, count), bounds.add(second, count);
    }
    bounds.mark(2, count, made);
}

}  // namespace nearfield::elements::NEARFIELD_ISA
