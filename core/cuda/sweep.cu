// Prisms of one step or two where there is no slab of the CPML (sweep.h), and copies of what prisms do not make.
#include "sweep.h"

namespace nearfield::cuda {

// Six components of tiles, with psi, from one set of records to another. A thread copies four samples.
template <class Real>
NEARFIELD_CELL void carry_tile(const Carry<Real>& s) {
    const Tile& tile = s.tiles[block_number()];
    const int row = threads_of_row(tile.blocks);
    last_phase([&](int thread) {
        const int x = thread & ((1 << row) - 1), y = thread >> row, block = tile.k + x / 4, lane = x % 4 * 4;
        if (x / 4 >= tile.blocks || y >= tile.rows) return;
        const long record = tile.i * s.plane + (tile.j + y) * s.record;
        const long at = record + lanes_of_block * (block + 1) + lane;
        for (int n = 0; n < 6; ++n) store(s.to + at + n * s.field, load(s.from + at + n * s.field));
        const auto carry_psi = [lane](const Real* from, Real* to, long psi) {
            psi += lane;
            for (int n = 0; n < 4; ++n) store(to + psi + n * lanes_of_block, load(from + psi + n * lanes_of_block));
        };
        const long place = 4 * lanes_of_block * block;
        if (tile.c_slab)
            carry_psi(s.from, s.to,
                      record + 6 * s.field + 4 * lanes_of_block * (block < s.c_low ? block : block - s.c_gap));
        if (tile.b_slab >= 0)
            carry_psi(s.psi.b_from, s.psi.b_to, tile.i * s.psi.b_plane + (tile.b_slab + y) * s.psi.row + place);
        if (tile.a_slab >= 0)
            carry_psi(s.psi.a_from, s.psi.a_to, (long(tile.a_slab) * s.rows + tile.j + y) * s.psi.row + place);
    });
}

#define ONE(Real, a) sweep_prism<Real, 1, false>(a)
#define TWO(Real, a) sweep_prism<Real, 2, false>(a)
#define CARRY(Real, a) carry_tile<Real>(a)
NEARFIELD_KERNEL_OF(sweep_one, Sweep, 2, (memory_of_prism<float, 1, false>), (memory_of_prism<Wide, 1, false>), ONE)
NEARFIELD_KERNEL_OF(sweep_two, Sweep, 2, (memory_of_prism<float, 2, false>), (memory_of_prism<Wide, 2, false>), TWO)
NEARFIELD_KERNEL(sweep_carry, Carry, 0, CARRY)

}  // namespace nearfield::cuda
