// The exact sum of the squares of all six fields (cell/squares.h): of each block of 16 cells along one axis, lane by
// lane over the components, then over the lanes in turn, in double; blocks are added without rounding (cell/exact.h) by
// whole numbers, in any order. A block of threads makes 16 blocks of cells, a thread a lane. Traffic: 24 bytes a cell
// in single precision, once in many steps.
#include "cell/exact.h"
#include "cell/squares.h"
#include "stored.h"

namespace nearfield::cuda {

constexpr int energy_digits = 68;  // of the sum, then the count of terms that were not finite

struct LaneSums {
    Wide of[threads_of_block];
};

template <class Real, class Stored>
NEARFIELD_CELL void add_squares(const Energy<Real>& e) {
    LaneSums& sums = block_memory<LaneSums>();
    const long across = e.last[1] - e.first[1], other = e.last[2] - e.first[2];
    const long begin = long(block_number()) * (threads_of_block / lanes_of_block);
    phase([&](int thread) {
        const long number = begin + thread / lanes_of_block;
        const long a = e.first[0] + number % e.blocks * lanes_of_block + thread % lanes_of_block;
        const long b = e.first[1] + number / e.blocks % across, c = e.first[2] + number / e.blocks / across;
        Wide sum(0.0);
        if (a < e.last[0] && c < e.last[2])
            for (int n = 0; n < 6; ++n)
                sum = cell::plus_square(
                    sum,
                    sample(stored<Stored>(e.components[n]) + a * e.along + b * e.across + c * e.other, e.scale[n / 3]));
        sums.of[thread] = sum;
    });
    last_phase([&](int thread) {
        if (thread % lanes_of_block || begin + thread / lanes_of_block >= e.blocks * across * other) return;
        Wide sum(0.0);
        for (int lane = 0; lane < lanes_of_block; ++lane) sum = sum + sums.of[thread + lane];
        const WideBits term{sum.value};
        if (!cell::is_finite(term.bits)) return add_digit(e.digits + energy_digits, 1);
        const cell::ExactTerm exact = cell::exact_term(term.bits);
        for (int n = 0; n < 3; ++n) add_digit(e.digits + exact.first + n, exact.digit[n]);
    });
}

#define ENERGY(Real, Stored, a) add_squares<Real, Stored>(a)
NEARFIELD_FIELD_KERNEL(energy, Energy, sizeof(LaneSums), ENERGY)

}  // namespace nearfield::cuda
