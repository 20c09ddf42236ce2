// One half step of a list of tiles, in place: E (H alike, forward differences, minus sign):
//     Ex = Ca Ex + Cb ( d(Hz)/db - d(Hy)/dc ),   d(.)/du = difference / (kappa length) [+ psi in a CPML slab].
// Layout: records of core/layout.hpp. A block makes a tile, 256 threads of four samples of all three components: eight
// rows of eight blocks of 16 cells, or more rows of fewer, up to 64 of one block, which has one entry of the palette.
// Slabs and lengths other than 1 are asked for once a tile, loss once a block of 16, never by a sample; factors of 1
// beside others are multiplied by, which is exact. All that is read is asked for before anything waits for it; but in
// slabs, where psi takes the registers. Traffic in single precision: 36 bytes a cell (12 read of the other field, 12 read
// and 12 written of its own), 18 with fields in 16 bits (stored.h), 16 more in each slab; coefficients come from a
// palette that stays in the caches.
#include "slab.h"
#include "stored.h"
#include "update.h"

namespace nearfield::cuda {

template <class Real, class Stored, bool electric>
NEARFIELD_CELL void half_step_of_four(const HalfStep<Real>& h, const Tile tile, int x, int y) {
    using V = Four<Real>;
    constexpr int towards = electric ? -1 : 1, own_psi = electric ? 0 : 2 * lanes_of_block;
    if (x / 4 >= tile.blocks || y >= tile.rows) return;
    const int block = tile.k + x / 4, lane = x % 4 * 4, k = lanes_of_block * block + lane, i = tile.i, j = tile.j + y;
    Stored* const record = stored<Stored>(h.records) + i * h.plane + j * h.record;
    Stored* const row = record + lanes_of_block + k;
    Stored *const fx = row + (electric ? 0 : 3) * h.field, *const fy = fx + h.field, *const fz = fy + h.field;
    const Stored *const px = row + (electric ? 3 : 0) * h.field, *const py = px + h.field, *const pz = py + h.field;
    constexpr bool early = sizeof(Real) == 4;  // in double registers are scarcer
    const auto program_of_row = [&] { return h.program_of[i * h.rows + j]; };
    const unsigned early_program = early ? program_of_row() : 0;
    const auto read = [&](const Stored* p) { return four(p, h.other); };
    const V X = read(px), Y = read(py), Z = read(pz);
    const V aY = read(py + towards * h.plane), aZ = read(pz + towards * h.plane);
    const V bX = read(px + towards * h.record), bZ = read(pz + towards * h.record);
    constexpr int beside = electric ? -1 : 4;
    const Real x_beside = sample(px + beside, h.other), y_beside = sample(py + beside, h.other);
    const bool plain = !tile.c_slab && tile.b_slab < 0 && tile.a_slab < 0;
    V x_old{}, y_old{}, z_old{};
    const auto read_old = [&] { x_old = four(fx, h.own), y_old = four(fy, h.own), z_old = four(fz, h.own); };
    if (plain) read_old();  // as early as all else
    const V cX = electric ? V{x_beside, X.x, X.y, X.z} : V{X.y, X.z, X.w, x_beside};
    const V cY = electric ? V{y_beside, Y.x, Y.y, Y.z} : V{Y.y, Y.z, Y.w, y_beside};
    // Upper minus lower sample.
    const auto difference = [](const V& here, const V& there) { return electric ? here - there : there - here; };
    V dcX = difference(X, cX), dcY = difference(Y, cY), daY = difference(Y, aY), daZ = difference(Z, aZ),
      dbX = difference(X, bX), dbZ = difference(Z, bZ);
    if (tile.c_slab) {
        const Stretch<Real> numbers = stretch_of_four(h.c, k);
        Real* const psi = stored<Real>(record + 6 * h.field) +
                          4 * lanes_of_block * (block < h.c_low ? block : block - h.c_gap) + own_psi + lane;
        dcY = stretched(dcY, numbers, psi);
        dcX = stretched(dcX, numbers, psi + lanes_of_block);
    } else if (!tile.unit) {
        const V inverse = load(h.c.inverse + k);
        dcY = dcY * inverse, dcX = dcX * inverse;
    }
    if (tile.b_slab >= 0) {
        const Stretch<Real> numbers = stretch_of_one(h.b, j);
        Real* const psi = h.b_psi + i * h.b_plane + (tile.b_slab + j - tile.j) * h.psi_row +
                          4 * lanes_of_block * block + own_psi + lane;
        dbZ = stretched(dbZ, numbers, psi);
        dbX = stretched(dbX, numbers, psi + lanes_of_block);
    } else if (!tile.unit) {
        const V inverse = all_four(h.b.inverse[j]);
        dbZ = dbZ * inverse, dbX = dbX * inverse;
    }
    if (tile.a_slab >= 0) {
        const Stretch<Real> numbers = stretch_of_one(h.a, i);
        Real* const psi =
            h.a_psi + (long(tile.a_slab) * h.rows + j) * h.psi_row + 4 * lanes_of_block * block + own_psi + lane;
        daZ = stretched(daZ, numbers, psi);
        daY = stretched(daY, numbers, psi + lanes_of_block);
    } else if (!tile.unit) {
        const V inverse = all_four(h.a.inverse[i]);
        daZ = daZ * inverse, daY = daY * inverse;
    }
    if (!plain) read_old();
    const unsigned entry = h.entries[(early ? early_program : program_of_row()) * h.blocks + block];
    const bool lossy = entry & entry_is_lossy;
    const Real* const values = h.values + lanes_of_block * (entry & entry_place) + lane;
    const V x_new = advanced<Real, electric>(x_old, dbZ, dcY, lossy, values, 0),
            y_new = advanced<Real, electric>(y_old, dcX, daZ, lossy, values, 1),
            z_new = advanced<Real, electric>(z_old, daY, dbX, lossy, values, 2);
    put_four(fx, x_new, h.own), put_four(fy, y_new, h.own), put_four(fz, z_new, h.own);
}

template <class Real, class Stored, bool electric>
NEARFIELD_CELL void half_step(const HalfStep<Real>& h) {
    const Tile tile = h.tiles[block_number()];
    const int row = threads_of_row(tile.blocks);
    last_phase([&](int thread) {
        half_step_of_four<Real, Stored, electric>(h, tile, thread & ((1 << row) - 1), thread >> row);
    });
}

#define ELECTRIC(Real, Stored, a) half_step<Real, Stored, true>(a)
#define MAGNETIC(Real, Stored, a) half_step<Real, Stored, false>(a)
NEARFIELD_FIELD_KERNEL(half_step_electric, HalfStep, 0, ELECTRIC)
NEARFIELD_FIELD_KERNEL(half_step_magnetic, HalfStep, 0, MAGNETIC)

}  // namespace nearfield::cuda
