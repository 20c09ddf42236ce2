// Row kernels: what happens to blocks [first, last) of one row at one half step. Compiled once per instruction
// set; `rows_for` picks the best that this processor has.
#pragma once

#include <cstdint>
#include <string>

#include "block.hpp"
#include "isa.hpp"

namespace nearfield {

struct PolePiece {                    // blocks [first, last) of a component of a row that hold a medium
    std::int32_t field, first, last;  // field: where the component begins
    std::uint32_t cells;              // an entry a block, where they begin
    std::uint32_t state;              // within the row's states, in blocks of 16
};

template <class Real>
struct Rows {
    using Update = void (*)(const HalfStep<Real>&, long i, long j, long first, long last, const Real* amounts);
    // E of row (i, j). Reads H of rows (i, j), (i - 1, j), (i, j - 1) at the half step before. [1]: then samples that
    // take amounts get theirs.
    Update electric[2];
    // H of row (i, j). Reads E of rows (i, j), (i + 1, j), (i, j + 1) at the step just made. [1] alike.
    Update magnetic[2];
    // Sums of squares of each block of 16 cells of six rows `stride` apart: lanes first, each over the six, then in
    // turn.
    void (*energy)(const Real* row, long stride, long length, double* sums);
    // sums[r, c] += left[n, r] * right[n, c] for n = 0, 1, ...: `terms` samples of a running Fourier transform.
    // `columns` is a multiple of 16; `left_term`, `right_term`: from one n to the next.
    void (*accumulate)(Real* sums, long rows, long columns, const Real* left, long left_term, const Real* right,
                       long right_term, long terms);
    // to[n] = from[n] * unit, past the caches: for another process, or for nobody before the next block of steps. The
    // thread must say `stream::settle_stores` before it tells anyone.
    void (*send)(Real* to, const Real* from, long count, Real unit);
    // Poles of one medium in blocks [first, last) of a row, as far as its pieces reach (core/cell/poles.h), with e =
    // old:
    //   row = stay row - weight sum T;  T += k T + q e,  or T += k T + U + q e, U += rho T + k U + r e.
    void (*poles)(Real* row, const Real* old, const PolePiece* pieces, long count, long first, long last,
                  const std::uint32_t* cells_of, const Real* cells, Real* states, const Real* numbers, long firsts,
                  long seconds);
    // row[at + k] += weight[k] v[k], k below `count`: an incident wave. v is the sum, in order, of share[n]
    // table[column[n] + k], n below `taps`; one tap has no share. Not `along`: v is that of k = 0 throughout. `row` is
    // aligned; weights and tables are read up to a block before and past the samples.
    void (*incident)(Real* row, long at, const Real* weight, long count, const Real* table, const std::int32_t* column,
                     const Real* share, long taps, bool along);
    // row[at + k] = weight[k] v[k] alike, and up to a whole block of anything past them.
    void (*amounts)(Real* row, long at, const Real* weight, long count, const Real* table, const std::int32_t* column,
                    const Real* share, long taps, bool along);
    // row[at[n]] += amount[16 n], as whole vectors: one cell stored by itself would hold up the next load of its
    // vector.
    void (*singles)(Real* row, const std::int32_t* at, const Real* amount, long count);
};

// Of the instruction set of a name that isa_choose gave.
template <class Real>
const Rows<Real>& rows_for(const std::string& isa);

}  // namespace nearfield
