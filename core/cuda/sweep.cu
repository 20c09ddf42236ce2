// A whole step in one pass where nothing acts or records between its halves: E, then H, from one set of records to
// another. `sweep` makes rows outside of the CPML; `sweep_slabs`, before it, those in slabs of any axes, with psi from one
// set to another too.
// Layout: records of core/layout.hpp, twice. A block makes a column: up to eight rows of up to 128 cells, plane after
// plane; a thread makes four samples of all six components. E of a plane is kept in the block's memory, with one row
// and one cell beyond, until H of that plane is made, which needs E of the next plane too. What E a column needs beyond
// its ends it makes itself, unless it is ready in `to` (`given`), as are zeros beyond the domain. Traffic in single
// precision: 48 bytes a cell, 32 more in each slab, and what the ends of columns cost.
#include "slab.h"
#include "three.h"

namespace nearfield::cuda {

constexpr int row_of_sweep = 136, rows_of_sweep = 9;  // samples, of which 129 count; rows

template <class Real>
struct KeptPlane {
    Real of[3][rows_of_sweep][row_of_sweep];
};

template <class Real>
NEARFIELD_CELL long place_of(const Sweep<Real>& s, int i, int j, int k) {
    return i * s.plane + j * s.record + lanes_of_block + k;
}

// Derivatives of four samples in slabs of the CPML, of some axes at least; `own`: psi is left in `to`.
template <class Real, bool electric>
NEARFIELD_CELL void stretch(const Sweep<Real>& s, const SweepHalf<Real>& h, bool own, int i, int j, int k,
                            Three<Real>& da, Three<Real>& db, Three<Real>& dc) {
    const int block = k / lanes_of_block;
    const int a = number_in_slabs(s.a, i), b = number_in_slabs(s.b, j), c = number_in_slabs(s.c, block);
    const auto both = [&](Four<Real>& first, Four<Real>& second, bool in_slab, const Stretch<Real>& numbers,
                          const Real* from, Real* to, long psi) {
        if (!in_slab) {
            first = first * numbers.inverse, second = second * numbers.inverse;
            return;
        }
        psi += (electric ? 0 : 2 * lanes_of_block) + k % lanes_of_block;
        first = stretched(first, numbers, from + psi, to + psi, own);
        second = stretched(second, numbers, from + psi + lanes_of_block, to + psi + lanes_of_block, own);
    };
    both(dc.y, dc.x, c >= 0, stretch_of_four(h.c, k), s.from, s.to,
         i * s.plane + j * s.record + 6 * s.field + 4 * lanes_of_block * c);
    both(db.z, db.x, b >= 0, stretch_of_one(h.b, j), s.psi.b_from, s.psi.b_to,
         i * s.psi.b_plane + b * s.psi.row + 4 * lanes_of_block * block);
    both(da.z, da.y, a >= 0, stretch_of_one(h.a, i), s.psi.a_from, s.psi.a_to,
         (long(a) * s.rows + j) * s.psi.row + 4 * lanes_of_block * block);
}

// Three components of four samples after their half step. `unit`: lengths are exactly 1; slabs do not ask.
template <class Real, bool electric, bool slabs>
NEARFIELD_CELL Three<Real> updated(const Sweep<Real>& s, bool unit, bool own, int i, int j, int k,
                                   const Three<Real>& old, Three<Real> da, Three<Real> db, Three<Real> dc) {
    const SweepHalf<Real>& h = electric ? s.electric : s.magnetic;
    if (slabs) {
        stretch<Real, electric>(s, h, own, i, j, k, da, db, dc);
    } else if (!unit) {
        divide(h, i, j, k, da, db, dc);
    }
    const unsigned entry = h.entries[h.program_of[i * s.rows + j] * s.blocks + k / lanes_of_block];
    return advanced<Real, electric>(h, entry, k, old, da, db, dc);
}

// E of four samples after the step, from the fields before it.
template <class Real, bool slabs>
NEARFIELD_CELL Three<Real> next_electric(const Sweep<Real>& s, bool unit, bool own, int i, int j, int k) {
    using V = Four<Real>;
    const Real* const e = s.from + place_of(s, i, j, k);
    const Real *const hx = e + 3 * s.field, *const hy = hx + s.field, *const hz = hy + s.field;
    const V X = load(hx), Y = load(hy), Z = load(hz);
    const V cX{hx[-1], X.x, X.y, X.z}, cY{hy[-1], Y.x, Y.y, Y.z};
    const Three<Real> da{X, Y - load(hy - s.plane), Z - load(hz - s.plane)};
    const Three<Real> db{X - load(hx - s.record), Y, Z - load(hz - s.record)};
    const Three<Real> dc{X - cX, Y - cY, Z};
    return updated<Real, true, slabs>(s, unit, own, i, j, k, three(e, s.field), da, db, dc);
}

// H of four samples of the plane that is kept, whose row is y and first cell is x; `next`: E of the plane after it.
template <class Real, bool slabs>
NEARFIELD_CELL void make_magnetic(const Sweep<Real>& s, const KeptPlane<Real>& kept, const Three<Real>& next, bool unit,
                                  int i, int j, int k, int x, int y) {
    using V = Four<Real>;
    const long at = place_of(s, i, j, k) + 3 * s.field;
    const V X = load(&kept.of[0][y][x]), Y = load(&kept.of[1][y][x]), Z = load(&kept.of[2][y][x]);
    const V cX{X.y, X.z, X.w, kept.of[0][y][x + 4]}, cY{Y.y, Y.z, Y.w, kept.of[1][y][x + 4]};
    const Three<Real> da{X, next.y - Y, next.z - Z};
    const Three<Real> db{load(&kept.of[0][y + 1][x]) - X, Y, load(&kept.of[2][y + 1][x]) - Z};
    const Three<Real> dc{cX - X, cY - Y, Z};
    store(s.to + at, s.field,
          updated<Real, false, slabs>(s, unit, true, i, j, k, three(s.from + at, s.field), da, db, dc));
}

template <class Real>
NEARFIELD_CELL void keep(KeptPlane<Real>& kept, const Three<Real>& t, int x, int y) {
    store(&kept.of[0][y][x], t.x), store(&kept.of[1][y][x], t.y), store(&kept.of[2][y][x], t.z);
}

template <class Real, bool slabs>
NEARFIELD_CELL void sweep_column(const Sweep<Real>& s) {
    const Column& c = s.columns[block_number()];
    KeptPlane<Real>& kept = block_memory<KeptPlane<Real>>();
    const bool unit = c.unit;
    const auto ready = [&](int i, int j, int k) { return three(s.to + place_of(s, i, j, k), s.field); };
    for (int i = c.i; i <= c.i + c.planes; ++i) {
        const bool beyond = i == c.i + c.planes;
        phase([&](int thread) {
            const int x = thread % 32 * 4, y = thread / 32, j = c.j + y, k = lanes_of_block * c.k + x;
            if (x >= lanes_of_block * c.blocks || y >= c.rows) return;
            const Three<Real> e =
                beyond && c.a_given ? ready(i, j, k) : next_electric<Real, slabs>(s, unit, !beyond, i, j, k);
            if (!beyond) store(s.to + place_of(s, i, j, k), s.field, e);
            if (i > c.i) make_magnetic<Real, slabs>(s, kept, e, unit, i - 1, j, k, x, y);
        });
        if (beyond) return;
        phase([&](int thread) {
            const int x = thread % 32 * 4, y = thread / 32, j = c.j + y, k = lanes_of_block * c.k + x;
            if (x >= lanes_of_block * c.blocks || y >= c.rows) return;
            keep(kept, ready(i, j, k), x, y);
            if (y == c.rows - 1)
                keep(kept, c.b_given ? ready(i, j + 1, k) : next_electric<Real, slabs>(s, unit, false, i, j + 1, k), x,
                     y + 1);
            if (x == lanes_of_block * c.blocks - 4) {
                const Three<Real> e =
                    c.c_given ? ready(i, j, k + 4) : next_electric<Real, slabs>(s, unit, false, i, j, k + 4);
                kept.of[0][y][x + 4] = e.x.x, kept.of[1][y][x + 4] = e.y.x;
            }
        });
    }
}

// Six components of tiles, with psi, from one set of records to another. A thread copies four samples.
template <class Real>
NEARFIELD_CELL void carry_tile(const Carry<Real>& s) {
    const Tile& tile = s.tiles[block_number()];
    last_phase([&](int thread) {
        const int x = thread % 32, y = thread / 32, block = tile.k + x / 4, lane = x % 4 * 4;
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

#define SWEEP(Real, a) sweep_column<Real, false>(a)
#define SLABS(Real, a) sweep_column<Real, true>(a)
#define CARRY(Real, a) carry_tile<Real>(a)
NEARFIELD_KERNEL(sweep, Sweep, sizeof(KeptPlane<double>), SWEEP)
NEARFIELD_KERNEL(sweep_slabs, Sweep, sizeof(KeptPlane<double>), SLABS)
NEARFIELD_KERNEL(sweep_carry, Carry, 0, CARRY)

}  // namespace nearfield::cuda
