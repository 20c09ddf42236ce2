// One whole step, or two, in one pass where nothing but the update happens, outside of the CPML: fields before it in one
// set of records, after it in another. Tiles of the rest are carried there first (`sweep_carry`), whose half steps are
// made in place.
// Layout: records of core/layout.hpp, twice. A block of threads makes a prism: 16 rows of 64 cells, plane after plane; a
// thread makes four samples of all six components. Of two steps it makes at position n
//     E of plane n and H of plane n - 1 after the first step, E of plane n - 2 and H of plane n - 3 after the second,
// from what the position before has left in the block's memory, in two places for even and odd positions: one barrier a
// position. What lies within as many rows as steps, or four cells, of a side that is not the domain's own is not known
// to the end, is not stored, and belongs to a neighbour. Traffic in single precision: 48 bytes a cell for all steps, 24
// for each plane more that a prism begins and ends with; sides are read twice, from the second-level cache.
//
// A card's loads come back in their order: what is read while the next plane is on its way from memory waits for that
// plane. So all that a position needs lies in registers and in the block's memory: lengths, and the coefficients of
// blocks of 16 cells that are alike, of which an entry of the palette says so (plan.h).
#include "three.h"

namespace nearfield::cuda {

template <class Real>
using Laid = Real[3][rows_of_prism][cells_of_prism];
constexpr int planes_made = planes_of_prism + 8;  // two at each end, one for each step more, in fours
template <class Real, int steps>
struct Positions {                // by step of the pass and parity of the position
    Laid<Real> before[steps][2];  // H before the step
    Laid<Real> after[steps][2];   // E after it
    Real a[2][planes_made], b[2][rows_of_prism], c[2][cells_of_prism];  // inverse lengths of both half steps
};
// What a thread knows of the coefficients of one half step.
template <class Real>
struct Known {
    unsigned program, entry;  // of the palette: in plane n + 1, in plane n
    unsigned alike;           // the entry last met whose cells are alike, and its coefficients
    Real x, y, z;
    int planes;  // that had it without a break, plane n the last
};
// What a thread keeps: what it has read ahead, and where it is.
template <class Real>
struct Kept {
    Three<Real> electric;
    Known<Real> of_electric, of_magnetic;
    long place;      // of its samples of plane n + 1
    int j;           // in the domain, or -1
    int k_and_unit;  // twice the first cell, and 1 where lengths are 1: made of what was read, hence waited for, once
    int first;       // plane that it stores; past all where it stores none

    NEARFIELD_CELL int k() const { return k_and_unit >> 1; }
    NEARFIELD_CELL bool unit() const { return k_and_unit & 1; }
};
struct Spot {  // of four samples, in the prism
    int x, y;
};

template <class Real>
NEARFIELD_CELL Three<Real> own(const Laid<Real>& laid, const Spot& at) {
    return three(&laid[0][at.y][at.x], rows_of_prism * cells_of_prism);
}
template <class Real>
NEARFIELD_CELL void lay(Laid<Real>& laid, const Spot& at, const Three<Real>& t) {
    store(&laid[0][at.y][at.x], rows_of_prism * cells_of_prism, t);
}
template <class Real>
NEARFIELD_CELL Four<Real> four_or_zero(const Laid<Real>& laid, int component, int y, int x) {
    return y >= 0 && y < rows_of_prism ? load(&laid[component][y][x]) : all_four(Real(0));
}
template <class Real>
NEARFIELD_CELL Real one_or_zero(const Laid<Real>& laid, int component, int y, int x) {
    return x >= 0 && x < cells_of_prism ? laid[component][y][x] : Real(0);
}

template <class Real, int steps>
NEARFIELD_CELL void divide(const Positions<Real, steps>& kept, int half, int plane, const Spot& at, Three<Real>& da,
                           Three<Real>& db, Three<Real>& dc) {
    const Four<Real> a = all_four(kept.a[half][plane]), b = all_four(kept.b[half][at.y]), c = load(&kept.c[half][at.x]);
    da.y = da.y * a, da.z = da.z * a, db.x = db.x * b, db.z = db.z * b, dc.x = dc.x * c, dc.y = dc.y * c;
}

template <class Real>
NEARFIELD_CELL unsigned program_of(const Sweep<Real>& s, const SweepHalf<Real>& h, int i, int j) {
    return h.program_of[i * s.rows + j];
}
template <class Real>
NEARFIELD_CELL unsigned entry_of(const Sweep<Real>& s, const SweepHalf<Real>& h, unsigned program, int k) {
    return h.entries[program * s.blocks + k / lanes_of_block];
}
// Takes the coefficients of plane n's entry, where its cells are alike, in place of those of another.
template <class Real>
NEARFIELD_CELL void know(const SweepHalf<Real>& h, Known<Real>& known) {
    if (known.entry == known.alike) {
        ++known.planes;
    } else if (known.entry & entry_is_alike) {
        const Real* const values = h.values + lanes_of_block * (known.entry & entry_place);
        known.alike = known.entry, known.planes = 1;
        known.x = values[0], known.y = values[lanes_of_block], known.z = values[2 * lanes_of_block];
    } else {
        known.planes = 0;
    }
}

// Three components of plane n - `back` after their half step.
template <class Real, bool electric, int back>
NEARFIELD_CELL Three<Real> updated(const Sweep<Real>& s, const Kept<Real>& t, int n, const Three<Real>& old,
                                   const Three<Real>& da, const Three<Real>& db, const Three<Real>& dc) {
    const SweepHalf<Real>& h = electric ? s.electric : s.magnetic;
    const Known<Real>& known = electric ? t.of_electric : t.of_magnetic;
    if (known.planes <= back) {
        const unsigned entry = back ? entry_of(s, h, program_of(s, h, n - back, t.j), t.k()) : known.entry;
        return advanced<Real, electric>(h, entry, t.k(), old, da, db, dc);
    }
    const auto one = [](const Four<Real>& f, Real drive, const Four<Real>& first, const Four<Real>& second) {
        return electric ? cell::advance_electric(f, all_four(drive), first, second)
                        : cell::advance_magnetic(f, all_four(drive), first, second);
    };
    return {one(old.x, known.x, db.z, dc.y), one(old.y, known.y, dc.x, da.z), one(old.z, known.z, da.y, db.x)};
}

// E of plane n - `back` after a step, from H of that plane and of the one before it.
template <int back, class Real, int steps>
NEARFIELD_CELL Three<Real> electric_of(const Sweep<Real>& s, const Positions<Real, steps>& kept, const Kept<Real>& t,
                                       int n, int first, const Spot& at, const Three<Real>& old, const Laid<Real>& here,
                                       const Three<Real>& before) {
    const Three<Real> h = own(here, at);
    const Four<Real> cX{one_or_zero(here, 0, at.y, at.x - 1), h.x.x, h.x.y, h.x.z};
    const Four<Real> cY{one_or_zero(here, 1, at.y, at.x - 1), h.y.x, h.y.y, h.y.z};
    Three<Real> da{h.x, h.y - before.y, h.z - before.z};
    Three<Real> db{h.x - four_or_zero(here, 0, at.y - 1, at.x), h.y, h.z - four_or_zero(here, 2, at.y - 1, at.x)};
    Three<Real> dc{h.x - cX, h.y - cY, h.z};
    if (!t.unit()) divide(kept, 0, n - back - first, at, da, db, dc);
    return updated<Real, true, back>(s, t, n, old, da, db, dc);
}

// H of plane n - `back` after a step, from E of that plane and of the one after it.
template <int back, class Real, int steps>
NEARFIELD_CELL Three<Real> magnetic_of(const Sweep<Real>& s, const Positions<Real, steps>& kept, const Kept<Real>& t,
                                       int n, int first, const Spot& at, const Three<Real>& old, const Laid<Real>& here,
                                       const Three<Real>& next) {
    const Three<Real> e = own(here, at);
    const Four<Real> cX{e.x.y, e.x.z, e.x.w, one_or_zero(here, 0, at.y, at.x + 4)};
    const Four<Real> cY{e.y.y, e.y.z, e.y.w, one_or_zero(here, 1, at.y, at.x + 4)};
    Three<Real> da{e.x, next.y - e.y, next.z - e.z};
    Three<Real> db{four_or_zero(here, 0, at.y + 1, at.x) - e.x, e.y, four_or_zero(here, 2, at.y + 1, at.x) - e.z};
    Three<Real> dc{cX - e.x, cY - e.y, e.z};
    if (!t.unit()) divide(kept, 1, n - back - first, at, da, db, dc);
    return updated<Real, false, back>(s, t, n, old, da, db, dc);
}

// Step `m` of the pass at position n: E of plane n - 2 m, H of the plane before it, after the last step to memory where
// they are the prism's own.
template <class Real, int steps, int m>
NEARFIELD_CELL void make_step(const Sweep<Real>& s, Positions<Real, steps>& kept, const Kept<Real>& t, int n, int first,
                              int last, const Spot& at) {
    const int now = n & 1, was = now ^ 1, i = n - 2 * m;
    if (i < first) return;
    // H of a plane is laid where E of the one after it is made: a position later for all steps but the first
    const Three<Real> before = own(kept.before[m][m ? now : was], at);  // H of plane i - 1
    Three<Real> e{all_four(Real(0)), all_four(Real(0)), all_four(Real(0))};
    if (i < s.planes) {
        const Three<Real> old = m ? own(kept.after[m ? m - 1 : 0][now], at) : t.electric;
        e = electric_of<2 * m>(s, kept, t, n, first, at, old, kept.before[m][m ? was : now], before);
    }
    const auto magnetic = [&] {
        return magnetic_of<2 * m + 1>(s, kept, t, n, first, at, before, kept.after[m][was], e);
    };
    if constexpr (m + 1 < steps) {
        if (i > first && i <= s.planes) lay(kept.before[m + 1][now], at, magnetic());
    } else {
        Real* const to = s.to + (t.place - (2 * m + 1) * s.plane);
        if (i >= t.first && n < last) send(to, s.field, e);
        if (i > t.first) send(to - s.plane + 3 * s.field, s.field, magnetic());
    }
    lay(kept.after[m][now], at, e);
}

template <class Real, int steps>
NEARFIELD_CELL void clear(Positions<Real, steps>& kept, const Spot& at) {
    const Three<Real> zeros{all_four(Real(0)), all_four(Real(0)), all_four(Real(0))};
    for (int step = 0; step < steps; ++step)
        for (int parity = 0; parity < 2; ++parity)
            lay(kept.before[step][parity], at, zeros), lay(kept.after[step][parity], at, zeros);
}

// Inverse lengths of one half, past the domain's ends those of its last samples.
template <class Real, int steps>
NEARFIELD_CELL void keep_lengths(const Sweep<Real>& s, const SweepHalf<Real>& h, const Prism& p, int first, int half,
                                 Positions<Real, steps>& kept, int thread) {
    const auto within = [](int n, int count) { return n < count ? n : count - 1; };
    if (thread < planes_made) kept.a[half][thread] = h.a.inverse[within(first + thread, s.planes)];
    if (thread < rows_of_prism) kept.b[half][thread] = h.b.inverse[within(p.first_j + thread, s.rows)];
    if (thread < cells_of_prism)
        kept.c[half][thread] = h.c.inverse[within(p.first_k + thread, lanes_of_block * s.blocks)];
}

// A prism, and the positions that it takes.
struct Positioned {
    Prism p;
    int first, last;  // positions
    int end;          // of the planes that are read
};
template <class Real>
NEARFIELD_CELL Positioned positioned(const Sweep<Real>& s, int steps) {
    const Prism p = s.prisms[block_number()];
    const int end = p.i + p.planes + steps;
    return {p, p.i < steps ? 0 : p.i - steps, p.i + p.planes + 2 * (steps - 1), end < s.planes ? end : s.planes};
}

// Before the first position: zeros and lengths in the block's memory, and the first plane.
template <class Real, int steps>
NEARFIELD_CELL void begin(const Sweep<Real>& s, const Positioned& at_work, Positions<Real, steps>& kept, Kept<Real>& t,
                          const Spot& at, int thread) {
    const Prism& p = at_work.p;
    const int first = at_work.first, k = p.first_k + at.x;
    clear(kept, at);
    keep_lengths(s, s.electric, p, first, 0, kept, thread), keep_lengths(s, s.magnetic, p, first, 1, kept, thread);
    t = {};
    t.of_electric.alike = t.of_magnetic.alike = no_entry;
    t.j = p.first_j + at.y, t.k_and_unit = 2 * k + p.unit;
    const bool mine = t.j >= p.j && t.j < p.j + p.rows && k >= p.k && k < p.k + p.cells;
    t.first = mine ? p.i : s.planes + 8;
    t.place = first * s.plane + t.j * s.record + lanes_of_block + k;
    if (t.j >= s.rows || k >= lanes_of_block * s.blocks) {
        t.j = -1;
        return;
    }
    const Real* const from = s.from + t.place;
    t.electric = three(from, s.field), lay(kept.before[0][first & 1], at, three(from + 3 * s.field, s.field));
    t.of_electric.entry = entry_of(s, s.electric, program_of(s, s.electric, first, t.j), k);
    t.of_magnetic.entry = entry_of(s, s.magnetic, program_of(s, s.magnetic, first, t.j), k);
    if (first + 1 < at_work.end) {
        t.of_electric.program = program_of(s, s.electric, first + 1, t.j);
        t.of_magnetic.program = program_of(s, s.magnetic, first + 1, t.j);
    }
    t.place += s.plane;
}

// What a thread asks memory for at a position, and takes at its end: plane n + 1.
template <class Real>
struct Ahead {
    Three<Real> e, h;
    unsigned of_electric, of_magnetic;
};
template <class Real>
NEARFIELD_CELL Ahead<Real> read_ahead(const Sweep<Real>& s, Kept<Real>& t, int n, int end) {
    Ahead<Real> next = {};
    if (n + 1 >= end) return next;
    const Real* const from = s.from + t.place;
    next.e = three(from, s.field), next.h = three(from + 3 * s.field, s.field);
    next.of_electric = entry_of(s, s.electric, t.of_electric.program, t.k());
    next.of_magnetic = entry_of(s, s.magnetic, t.of_magnetic.program, t.k());
    if (n + 2 < end) {
        t.of_electric.program = program_of(s, s.electric, n + 2, t.j);
        t.of_magnetic.program = program_of(s, s.magnetic, n + 2, t.j);
    }
    return next;
}

template <class Real, int steps>
NEARFIELD_CELL void sweep_prism(const Sweep<Real>& s) {
    const Positioned at_work = positioned(s, steps);
    Positions<Real, steps>& kept = block_memory<Positions<Real, steps>>();
    Each<Kept<Real>> each;
    const auto spot = [](int thread) { return Spot{thread % (cells_of_prism / 4) * 4, thread / (cells_of_prism / 4)}; };
    phase(each, [&](Kept<Real>& t, int thread) { begin(s, at_work, kept, t, spot(thread), thread); });
    for (int n = at_work.first; n <= at_work.last; ++n)
        phase(each, [&](Kept<Real>& t, int thread) {
            const Spot at = spot(thread);
            if (t.j < 0) return;
            if (n < at_work.end) know(s.electric, t.of_electric), know(s.magnetic, t.of_magnetic);
            const Ahead<Real> next = read_ahead(s, t, n, at_work.end);
            if constexpr (steps == 2) make_step<Real, steps, 1>(s, kept, t, n, at_work.first, at_work.last, at);
            make_step<Real, steps, 0>(s, kept, t, n, at_work.first, at_work.last, at);
            lay(kept.before[0][(n + 1) & 1], at, next.h);
            t.of_electric.entry = next.of_electric, t.of_magnetic.entry = next.of_magnetic;
            t.electric = next.e, t.place += s.plane;
        });
}

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

#define ONE(Real, a) sweep_prism<Real, 1>(a)
#define TWO(Real, a) sweep_prism<Real, 2>(a)
#define CARRY(Real, a) carry_tile<Real>(a)
NEARFIELD_KERNEL_OF(sweep_one, Sweep, 2, sizeof(Positions<float, 1>), sizeof(Positions<Wide, 1>), ONE)
NEARFIELD_KERNEL_OF(sweep_two, Sweep, 2, sizeof(Positions<float, 2>), sizeof(Positions<Wide, 2>), TWO)
NEARFIELD_KERNEL(sweep_carry, Carry, 0, CARRY)

}  // namespace nearfield::cuda
