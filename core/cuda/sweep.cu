// A whole step of plain rows in one pass: E, then H, from one set of records to another. Plain: no slab of the CPML, and
// nothing acts or records between the halves.
// Layout: records of core/layout.hpp, twice. A block makes a column: up to eight rows of up to 128 cells, plane after
// plane; a thread makes four samples of all six components. E of a plane is kept in the block's memory, with one row
// and one cell beyond, until H of that plane is made, which needs E of the next plane too. What E a column needs beyond
// its ends it makes itself, unless that is no plain cell: then it is ready in `to` (`given`), and so are zeros beyond
// the domain. Traffic in single precision: 48 bytes a cell, and what the ends of columns cost.
#include "update.h"

namespace nearfield::cuda {

constexpr int row_of_sweep = 136, rows_of_sweep = 9;  // samples, of which 129 count; rows

template <class Real>
struct KeptPlane {
    Real of[3][rows_of_sweep][row_of_sweep];
};
template <class Real>
struct Three {
    Four<Real> x, y, z;
};

template <class Real, bool electric>
NEARFIELD_CELL Three<Real> plain_update(const SweepHalf<Real>& h, const Sweep<Real>& s, bool unit, int i, int j, int k,
                                        const Three<Real>& old, Three<Real> da, Three<Real> db, Three<Real> dc) {
    if (!unit) {
        const Four<Real> a = all_four(h.a.inverse[i]), b = all_four(h.b.inverse[j]), c = load(h.c.inverse + k);
        da.y = da.y * a, da.z = da.z * a, db.x = db.x * b, db.z = db.z * b, dc.x = dc.x * c, dc.y = dc.y * c;
    }
    const unsigned entry = h.entries[h.program_of[i * s.rows + j] * s.blocks + k / lanes_of_block];
    const bool lossy = entry >> 31;
    const Real* const values = h.values + lanes_of_block * (entry & 0x7fffffffu) + k % lanes_of_block;
    return {advanced<Real, electric>(old.x, db.z, dc.y, lossy, values, 0),
            advanced<Real, electric>(old.y, dc.x, da.z, lossy, values, 1),
            advanced<Real, electric>(old.z, da.y, db.x, lossy, values, 2)};
}

template <class Real>
NEARFIELD_CELL long place_of(const Sweep<Real>& s, int i, int j, int k) {
    return i * s.plane + j * s.record + lanes_of_block + k;
}
template <class Real>
NEARFIELD_CELL Three<Real> three(const Real* at, int field) {
    return {load(at), load(at + field), load(at + 2 * field)};
}
template <class Real>
NEARFIELD_CELL void store(Real* at, int field, const Three<Real>& t) {
    store(at, t.x), store(at + field, t.y), store(at + 2 * field, t.z);
}

// E of four samples after the step, from the fields before it.
template <class Real>
NEARFIELD_CELL Three<Real> next_electric(const Sweep<Real>& s, bool unit, int i, int j, int k) {
    using V = Four<Real>;
    const Real* const e = s.from + place_of(s, i, j, k);
    const Real *const hx = e + 3 * s.field, *const hy = hx + s.field, *const hz = hy + s.field;
    const V X = load(hx), Y = load(hy), Z = load(hz);
    const V cX{hx[-1], X.x, X.y, X.z}, cY{hy[-1], Y.x, Y.y, Y.z};
    const Three<Real> da{X, Y - load(hy - s.plane), Z - load(hz - s.plane)};
    const Three<Real> db{X - load(hx - s.record), Y, Z - load(hz - s.record)};
    const Three<Real> dc{X - cX, Y - cY, Z};
    return plain_update<Real, true>(s.electric, s, unit, i, j, k, three(e, s.field), da, db, dc);
}

// H of four samples of the plane that is kept, whose row is y and first cell is x; `next`: E of the plane after it.
template <class Real>
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
          plain_update<Real, false>(s.magnetic, s, unit, i, j, k, three(s.from + at, s.field), da, db, dc));
}

template <class Real>
NEARFIELD_CELL void keep(KeptPlane<Real>& kept, const Three<Real>& t, int x, int y) {
    store(&kept.of[0][y][x], t.x), store(&kept.of[1][y][x], t.y), store(&kept.of[2][y][x], t.z);
}

template <class Real>
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
            const Three<Real> e = beyond && c.a_given ? ready(i, j, k) : next_electric(s, unit, i, j, k);
            if (!beyond) store(s.to + place_of(s, i, j, k), s.field, e);
            if (i > c.i) make_magnetic(s, kept, e, unit, i - 1, j, k, x, y);
        });
        if (beyond) return;
        phase([&](int thread) {
            const int x = thread % 32 * 4, y = thread / 32, j = c.j + y, k = lanes_of_block * c.k + x;
            if (x >= lanes_of_block * c.blocks || y >= c.rows) return;
            keep(kept, ready(i, j, k), x, y);
            if (y == c.rows - 1)
                keep(kept, c.b_given ? ready(i, j + 1, k) : next_electric(s, unit, i, j + 1, k), x, y + 1);
            if (x == lanes_of_block * c.blocks - 4) {
                const Three<Real> e = c.c_given ? ready(i, j, k + 4) : next_electric(s, unit, i, j, k + 4);
                kept.of[0][y][x + 4] = e.x.x, kept.of[1][y][x + 4] = e.y.x;
            }
        });
    }
}

// Six components of tiles, with psi along the rows, from one set of records to another. A thread copies four samples.
template <class Real>
NEARFIELD_CELL void carry_tile(const Carry<Real>& s) {
    const Tile& tile = s.tiles[block_number()];
    last_phase([&](int thread) {
        const int x = thread % 32, y = thread / 32, block = tile.k + x / 4, lane = x % 4 * 4;
        if (x / 4 >= tile.blocks || y >= tile.rows) return;
        const long record = tile.i * s.plane + (tile.j + y) * s.record;
        const long at = record + lanes_of_block * (block + 1) + lane;
        for (int n = 0; n < 6; ++n) store(s.to + at + n * s.field, load(s.from + at + n * s.field));
        if (!tile.c_slab) return;
        const long psi = record + 6 * s.field + 4 * lanes_of_block * (block < s.c_low ? block : block - s.c_gap) + lane;
        for (int n = 0; n < 4; ++n) store(s.to + psi + n * lanes_of_block, load(s.from + psi + n * lanes_of_block));
    });
}

#define SWEEP(Real, a) sweep_column<Real>(a)
#define CARRY(Real, a) carry_tile<Real>(a)
NEARFIELD_KERNEL(sweep, Sweep, sizeof(KeptPlane<double>), SWEEP)
NEARFIELD_KERNEL(sweep_carry, Carry, 0, CARRY)

}  // namespace nearfield::cuda
