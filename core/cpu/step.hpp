// Steps, rows and parts of rows, as schedules name them to row operations.
#pragma once

#include <algorithm>
#include <array>

#include "exact_sum.hpp"
#include "layout.hpp"

namespace nearfield {

// Tables that Python hands over for one block of steps; row operations index them by step within the block.
template <class Real>
struct Tables {
    const Real* electric = nullptr;  // waveform amplitudes (steps, waveforms) at (m - 1/2) dt
    const Real* magnetic = nullptr;  // at m dt
    long waveforms = 0;
};

struct Step {
    long number;                 // m, from 1
    long in_block;               // from 0
    ExactSum* energy = nullptr;  // takes the squares of all fields after this step, where they are wanted
    long thread = 0;             // that makes it
};

struct Cells {  // [first, last) of a row
    long first, last;
    bool hold(long k) const { return k >= first && k < last; }
    Cells within(const Cells& other) const { return {std::max(first, other.first), std::min(last, other.last)}; }
};

struct Blocks {  // [first, last) of a row
    long first, last;
    Cells cells() const { return {lanes * first, lanes * last}; }
};

struct RowSpan {  // rows [first, last) along a and along b
    std::array<long, 2> a, b;
    long count() const { return (a[1] - a[0]) * (b[1] - b[0]); }
    long index(long i, long j) const { return (i - a[0]) * (b[1] - b[0]) + j - b[0]; }
};

}  // namespace nearfield
