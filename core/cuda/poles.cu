// Poles of dispersive media, just before the update of the same samples (cell/poles.h):
//     E <- stay E - weight sum T,   T advances with e, the field before the first medium of the sample.
// Layout: blocks of 16 cells that hold a medium, each with its media in their order; states (states, 16) a block and
// medium. A thread makes one sample, with all its media. Traffic in single precision: 8 bytes a sample, 8 more a state,
// and 8 of stay and weight where the caches do not hold them.
#include "cell/poles.h"
#include "stored.h"

namespace nearfield::cuda {

template <class Real>
struct LaneStates {
    Real* first;
    NEARFIELD_CELL Real load(long n) const { return first[lanes_of_block * n]; }
    NEARFIELD_CELL void store(long n, Real value) const { first[lanes_of_block * n] = value; }
};

template <class Real, class Stored>
NEARFIELD_CELL void advance_poles(const Poles<Real>& p) {
    last_phase([&](int thread) {
        const int number = block_number() * (threads_of_block / lanes_of_block) + thread / lanes_of_block,
                  lane = thread % lanes_of_block;
        if (number >= p.count) return;
        const PoleBlock block = p.blocks[number];
        Stored* const at = stored<Stored>(p.records) + block.at + lane;
        const Real e = sample(at, p.scale);
        Real field = e;
        for (unsigned n = block.first; n < block.last; ++n) {
            const PoleUse use = p.uses[n];
            const PoleNumbers medium = p.media[use.medium];
            const Real* const numbers = p.numbers + medium.at;
            const auto number_of = [numbers](long m) { return numbers[m]; };
            const LaneStates<Real> states{p.states + use.state + lane};
            const Real* const cell = p.cells + 2 * lanes_of_block * long(use.cell) + lane;
            // minus zero adds nothing to any state
            const Real sum = cell::remembered(Real(-0.0), e, number_of, states, medium.firsts, medium.seconds);
            field = cell::polarised(field, cell[0], cell[lanes_of_block], sum);
        }
        put_sample(at, field, p.scale);
    });
}

#define POLES(Real, Stored, a) advance_poles<Real, Stored>(a)
NEARFIELD_FIELD_KERNEL(poles, Poles, 0, POLES)

}  // namespace nearfield::cuda
