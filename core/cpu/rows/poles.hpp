// Poles of dispersive media in the blocks of a row that hold them.
#pragma once

#include <algorithm>

#include "cell/poles.h"
#include "cpu/rows.hpp"
#include "vectors.hpp"

namespace nearfield::NEARFIELD_ISA {

// The states of one vector of cells.
template <class Real>
struct States {
    using V = typename Vector<Real>::type;
    Real* first;
    V load(long n) const { return NEARFIELD_ISA::load(first + lanes * n); }
    void store(long n, V value) const { NEARFIELD_ISA::store(first + lanes * n, value); }
};

// `numbers`: vectors in registers, or scalars that are broadcast here.
template <class Real, class Number>
inline void poles_in(Real* row, const Real* old, const PolePiece* piece, long pieces, long first, long last,
                     const std::uint32_t* cells_of, const Real* cells, Real* states, const Number* numbers, long firsts,
                     long seconds) {
    using V = typename Vector<Real>::type;
    const auto number = [numbers](long n) {
        if constexpr (sizeof(Number) == sizeof(V))
            return numbers[n];
        else
            return broadcast<Real>(numbers[n]);
    };
    const V none = broadcast(Real(-0.0));  // adds nothing to any state
    for (const PolePiece* end = piece + pieces; piece != end; ++piece) {
        const long from = std::max<long>(first, piece->first), to = std::min<long>(last, piece->last),
                   skipped = from - piece->first;
        const std::uint32_t* cell = cells_of + piece->cells + skipped;
        Real* state = states + lanes * (piece->state + skipped * (firsts + 2 * seconds));
        for (long at = piece->field + lanes * from, end_of_piece = piece->field + lanes * to; at < end_of_piece;
             at += lanes) {
            const Real* const stay = cells + 2 * lanes * *cell++;
            for (long o = 0; o < lanes; o += Vector<Real>::width) {
                const V e = load(old + at + o);
                const V sum = cell::remembered(none, e, number, States<Real>{state + o}, firsts, seconds);
                store(row + at + o, cell::polarised(load(row + at + o), load(stay + o), load(stay + lanes + o), sum));
            }
            state += lanes * (firsts + 2 * seconds);
        }
    }
}

// A function for each usual number of poles: loops unrolled, and numbers in registers, which the stores cannot change.
template <class Real, int firsts, int seconds>
void poles_of(Real* row, const Real* old, const PolePiece* pieces, long count, long first, long last,
              const std::uint32_t* cells_of, const Real* cells, Real* states, const Real* numbers, long, long) {
    typename Vector<Real>::type kept[2 * firsts + 4 * seconds + 1];
    for (long n = 0; n < 2 * firsts + 4 * seconds; ++n) kept[n] = broadcast(numbers[n]);
    poles_in(row, old, pieces, count, first, last, cells_of, cells, states, kept, firsts, seconds);
}

template <class Real>
void poles(Real* row, const Real* old, const PolePiece* pieces, long count, long first, long last,
           const std::uint32_t* cells_of, const Real* cells, Real* states, const Real* numbers, long firsts,
           long seconds) {
    static constexpr decltype(&poles<Real>) usual[4][3] = {
        {poles_of<Real, 0, 0>, poles_of<Real, 0, 1>, poles_of<Real, 0, 2>},
        {poles_of<Real, 1, 0>, poles_of<Real, 1, 1>, poles_of<Real, 1, 2>},
        {poles_of<Real, 2, 0>, poles_of<Real, 2, 1>, poles_of<Real, 2, 2>},
        {poles_of<Real, 3, 0>, poles_of<Real, 3, 1>, poles_of<Real, 3, 2>},
    };
    if (firsts < 4 && seconds < 3)
        usual[firsts][seconds](row, old, pieces, count, first, last, cells_of, cells, states, numbers, firsts, seconds);
    else
        poles_in(row, old, pieces, count, first, last, cells_of, cells, states, numbers, firsts, seconds);
}

}  // namespace nearfield::NEARFIELD_ISA
