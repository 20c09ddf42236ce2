// What many points go through together, number by number: compiled for each instruction set, with the same bits on all.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <type_traits>

#include "cells.hpp"
#include "isa.hpp"

namespace nearfield::elements {

constexpr int lanes = 16;           // lines in hand together
constexpr double tolerance = 1e-2;  // of a step's end, over its length
constexpr double least_share = 0.5,
                 most_share = 4.0;   // of the gradient within a step: a saddle lies where it changes more
constexpr double most_growth = 3.0;  // of a step over the one before
constexpr double foreseen = 0.4;     // share of the way to where the gradient would be gone that a step may take

// A smooth function through the points of a grid: products of the cubic polynomials of cells.hpp along the axes, with a
// continuous gradient. A view; `sign` is 1 where lines lead upwards, -1 where downwards.
template <class T>
struct Terrain {
    struct Along {
        long n, last;                     // points, and the number of the last cell
        bool periodic, alike;             // all cells have the first weights
        double length, width, per_width;  // no width where cells have several
        const Cell* cells;
        const Polynomials<T>* weights;
        const long (*points)[4];  // of each cell
        const long* first;
    };
    Along axes[3];
    const T* field;
    double sign;
};

// At places of the box, which lie in these cells: value, and gradient in units of the field over the smallest width, both of
// the field upwards, of its negative downwards; `steep` is the gradient's length. Across the end of the box nothing leads
// outwards.
struct alignas(64) Slopes {
    double value[lanes], gradient[3][lanes], steep[lanes];
    int cell[3][lanes];
};

// Lines in hand. `allowed` is the error of a step over its length, `length` that of the next step.
struct alignas(64) Bundle {
    double at[3][lanes];  // after a step perhaps outside the box
    Slopes here;          // after a step the cells of the place that it led to, inside the box
    double allowed[lanes], length[lanes], longest;
    long went[lanes];    // whether the latest step was taken
    double step[lanes];  // and its length
};

// Best and second best slopes of a block of a row, and the direction of the best.
constexpr long block = 256;  // points, in the first-level cache
template <class T>
struct Rivals {
    using Code = std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>;
    T best[block], second[block];
    Code code[block];
};

// A cubic polynomial between points as one of Bernstein's, whose coefficients bound it: the inner two as weights of its four
// points; the outer two are its values at the ends. And its slope at the begin.
template <class T>
struct Bernstein {
    T first[4], second[4], slope[4];
};

// What is known of a cell, by its lowest point: whether the field may fall or rise along axis a, `falls << 2 * a`,
// somewhere on its low face across that axis; whether all its corners have one label; and whether lines stay there.
enum : std::uint8_t { falls = 1, rises = 2, whole = 64, trapped = 128 };

// Sixteen rows of points around a row of cells, by x and by y; the cells begin at rows[1][1]. Of an axis of one point all
// four are the same, and nothing else is there.
template <class T>
struct Surroundings {
    const T* rows[4][4];
    const Bernstein<T>* beside[2];  // along x and y
    const T* z[3];                  // first, second, slope of each cell of the row, weight by weight,
    long cells;                     // so many apart
};

template <class T>
struct Kernels {
    // One step of the first `count` lines by Bogacki and Shampine's pair of orders 3 and 2 (Appl. Math. Lett. 2, 1989),
    // along the unit vector of the gradient. Refused, with a shorter length for the next attempt, where the error over the
    // length is too large, the value does not rise, or the gradient changes too much.
    void (*step)(const Terrain<T>&, Bundle&, long count);
    // At the first `count` of these places.
    void (*slopes)(const Terrain<T>&, const double (*at)[lanes], long count, Slopes&);
    // Slopes from `count` points of a row to their neighbours in one direction: differences times `weight`, or, where these
    // are given, times the weights of the points.
    void (*weigh)(const T* at, const T* to, T weight, const T* weights, int direction, long count, Rivals<T>& up,
                  Rivals<T>& down);
    // Marks where the field may fall or rise across the low faces of at most a block of cells, across the axes 1 << a.
    void (*faces)(const Surroundings<T>&, int axes, long count, std::uint8_t* cells);
};

template <class T>
Terrain<T> terrain(const std::array<Axis<T>, 3>& axes, const T* field, double sign);

// Of the widest instruction set that this processor has, or of another name that isa_choose gave.
template <class T>
const Kernels<T>& kernels_for(const std::string& isa = isa_choose(""));

}  // namespace nearfield::elements
