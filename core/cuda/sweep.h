// One whole step, or two, in one pass where nothing but the update happens: fields before it in one set of records, after
// it in another. Slabs of the CPML along one axis are the `slab` variant's; where two meet, and where else more happens,
// tiles are carried to the other set first (sweep.cu), and their half steps made in place.
// Layout: records of core/layout.hpp, twice. A block of threads makes a prism: 16 rows of 64 cells, plane after plane; a
// thread makes four samples of all six components. Of two steps it makes at position n
//     E of plane n and H of plane n - 1 after the first step, E of plane n - 2 and H of plane n - 3 after the second,
// from what the position before has left in the block's memory, in two places for even and odd positions: one barrier a
// position. What lies within as many rows as steps, or four cells, of a side that is not the domain's own is not known
// to the end, is not stored, and belongs to a neighbour. Traffic in single precision: 48 bytes a cell for all steps, 24
// for each plane more that a prism begins and ends with; sides are read twice, from the second-level cache. In a slab 32
// more for psi, which between the steps of a pass lies in the block's memory.
//
// A card's loads come back in their order: what is read while the next plane is on its way from memory waits for that
// plane. So all that a position needs lies in registers and in the block's memory: lengths, and the coefficients of
// blocks of 16 cells that are alike, of which an entry of the palette says so (plan.h).
#pragma once

#include "slab.h"
#include "three.h"

namespace nearfield::cuda {

template <class Real>
using Laid = Real[3][rows_of_prism][cells_of_prism];
constexpr int planes_made = planes_of_prism + 8;  // two at each end, one for each step more, in fours
// Psi between the steps of a pass, by step and parity of the position: of both half steps, each thread's own.
template <class Real, int between, bool slab>
struct PsiKept {
    Psi<Real> psi[between][2][2][threads_of_block];
};
template <class Real, int between>
struct PsiKept<Real, between, false> {};
template <class Real>
struct PsiKept<Real, 0, true> {};

template <class Real, int steps, bool slab>
struct Positions : PsiKept<Real, steps - 1, slab> {  // by step of the pass and parity of the position
    Laid<Real> before[steps][2];                     // H before the step
    Laid<Real> after[steps][2];                      // E after it
    // Of both half steps: inverse lengths, and in slabs decay and drive.
    static constexpr int kinds = slab ? 3 : 1;
    Real a[2][kinds][planes_made], b[2][kinds][rows_of_prism], c[2][kinds][cells_of_prism];
};
// What a thread knows of the coefficients of one half step.
template <class Real>
struct Known {
    unsigned program, entry;  // of the palette: in plane n + 1, in plane n
    unsigned alike;           // the entry last met whose cells are alike, and its coefficients
    Real x, y, z;
    int planes;  // that had it without a break, plane n the last
};
// Psi that a thread has read ahead, and the axis across the planes in whose slab it is.
template <class Real, bool slab>
struct KeptOfSlab {
    Psi<Real> psi[2];
    int across;
};
template <class Real>
struct KeptOfSlab<Real, false> {};
// What a thread keeps: what it has read ahead, and where it is.
template <class Real, bool slab>
struct Kept : KeptOfSlab<Real, slab> {
    Three<Real> electric;
    Known<Real> of_electric, of_magnetic;
    long place;      // of its samples of plane n + 1
    int j;           // in the domain, or -1
    int k_and_unit;  // twice the first cell, and 1 where lengths are 1: made of what was read, hence waited for, once
    int first;       // plane that it stores; past all where it stores none

    NEARFIELD_CELL int k() const { return k_and_unit >> 1; }
    NEARFIELD_CELL bool unit() const { return k_and_unit & 1; }
};
struct Spot {  // of four samples, in the prism, and of the thread that makes them
    int x, y, thread;
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

// Differences become derivatives: divided by the lengths, along `axis` in its slab of the CPML.
template <class Real, int steps, bool slab>
NEARFIELD_CELL void divide(const Positions<Real, steps, slab>& kept, int half, int plane, const Spot& at, int axis,
                           Psi<Real>& psi, Three<Real>& da, Three<Real>& db, Three<Real>& dc) {
    const auto of_a = [&](int kind) { return all_four(kept.a[half][kind][plane]); };
    const auto of_b = [&](int kind) { return all_four(kept.b[half][kind][at.y]); };
    const auto of_c = [&](int kind) { return load(&kept.c[half][kind][at.x]); };
    const auto derive = [&](int number, const auto& numbers, Four<Real>& first, Four<Real>& second) {
        const Four<Real> inverse = numbers(0);
        if constexpr (slab)
            if (axis == number) {
                const Stretch<Real> s{inverse, numbers(1), numbers(2)};
                first = stretched(first, s, psi.first), second = stretched(second, s, psi.second);
                return;
            }
        first = first * inverse, second = second * inverse;
    };
    derive(0, of_a, da.z, da.y), derive(1, of_b, db.z, db.x), derive(2, of_c, dc.y, dc.x);
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
template <class Real, bool electric, int back, bool slab>
NEARFIELD_CELL Three<Real> updated(const Sweep<Real>& s, const Kept<Real, slab>& t, int n, const Three<Real>& old,
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
template <int back, class Real, int steps, bool slab>
NEARFIELD_CELL Three<Real> electric_of(const Sweep<Real>& s, const Positions<Real, steps, slab>& kept,
                                       const Kept<Real, slab>& t, int n, int first, const Spot& at, int axis,
                                       Psi<Real>& psi, const Three<Real>& old, const Laid<Real>& here,
                                       const Three<Real>& before) {
    const Three<Real> h = own(here, at);
    const Four<Real> cX{one_or_zero(here, 0, at.y, at.x - 1), h.x.x, h.x.y, h.x.z};
    const Four<Real> cY{one_or_zero(here, 1, at.y, at.x - 1), h.y.x, h.y.y, h.y.z};
    Three<Real> da{h.x, h.y - before.y, h.z - before.z};
    Three<Real> db{h.x - four_or_zero(here, 0, at.y - 1, at.x), h.y, h.z - four_or_zero(here, 2, at.y - 1, at.x)};
    Three<Real> dc{h.x - cX, h.y - cY, h.z};
    if (slab || !t.unit()) divide(kept, 0, n - back - first, at, axis, psi, da, db, dc);
    return updated<Real, true, back>(s, t, n, old, da, db, dc);
}

// H of plane n - `back` after a step, from E of that plane and of the one after it.
template <int back, class Real, int steps, bool slab>
NEARFIELD_CELL Three<Real> magnetic_of(const Sweep<Real>& s, const Positions<Real, steps, slab>& kept,
                                       const Kept<Real, slab>& t, int n, int first, const Spot& at, int axis,
                                       Psi<Real>& psi, const Three<Real>& old, const Laid<Real>& here,
                                       const Three<Real>& next) {
    const Three<Real> e = own(here, at);
    const Four<Real> cX{e.x.y, e.x.z, e.x.w, one_or_zero(here, 0, at.y, at.x + 4)};
    const Four<Real> cY{e.y.y, e.y.z, e.y.w, one_or_zero(here, 1, at.y, at.x + 4)};
    Three<Real> da{e.x, next.y - e.y, next.z - e.z};
    Three<Real> db{four_or_zero(here, 0, at.y + 1, at.x) - e.x, e.y, four_or_zero(here, 2, at.y + 1, at.x) - e.z};
    Three<Real> dc{cX - e.x, cY - e.y, e.z};
    if (slab || !t.unit()) divide(kept, 1, n - back - first, at, axis, psi, da, db, dc);
    return updated<Real, false, back>(s, t, n, old, da, db, dc);
}

// The axis in whose slab plane i lies; 3: in none. Where slabs meet no prism stores.
template <class Real, bool slab>
NEARFIELD_CELL int slab_of(const Sweep<Real>& s, const Kept<Real, slab>& t, int i) {
    if constexpr (slab) return s.slab[0].holds(i) ? 0 : t.across;
    return no_slab;
}
// Psi of plane i before step `m` of the pass, and after it: read ahead, then in the block's memory, at last the prism's
// own to memory.
template <class Real, int steps, int m, bool slab>
NEARFIELD_CELL Psi<Real> psi_before(const Positions<Real, steps, slab>& kept, const Kept<Real, slab>& t, int half,
                                    int parity, const Spot& at) {
    if constexpr (slab && m > 0) return kept.psi[m - 1][parity][half][at.thread];
    if constexpr (slab) return t.psi[half];
    return {};
}
template <class Real, int steps, int m, bool slab>
NEARFIELD_CELL void keep_psi(const Sweep<Real>& s, Positions<Real, steps, slab>& kept, const Kept<Real, slab>& t,
                             int half, int parity, const Spot& at, int axis, int i, bool own, const Psi<Real>& psi) {
    if constexpr (slab && m + 1 < steps)
        kept.psi[m][parity][half][at.thread] = psi;
    else if constexpr (slab)
        if (own && axis != no_slab) store_psi(s, axis, i, t.j, t.k(), half, psi);
}

// Step `m` of the pass at position n: E of plane n - 2 m, H of the plane before it, after the last step to memory where
// they are the prism's own.
template <class Real, int steps, int m, bool slab>
NEARFIELD_CELL void make_step(const Sweep<Real>& s, Positions<Real, steps, slab>& kept, const Kept<Real, slab>& t,
                              int n, int first, int last, const Spot& at) {
    const int now = n & 1, was = now ^ 1, i = n - 2 * m;
    if (i < first) return;
    // H of a plane is laid where E of the one after it is made: a position later for all steps but the first
    const Three<Real> before = own(kept.before[m][m ? now : was], at);  // H of plane i - 1
    Three<Real> e{all_four(Real(0)), all_four(Real(0)), all_four(Real(0))};
    if (i < s.planes) {
        const int axis = slab_of(s, t, i);
        Psi<Real> psi = psi_before<Real, steps, m>(kept, t, 0, now, at);
        const Three<Real> old = m ? own(kept.after[m ? m - 1 : 0][now], at) : t.electric;
        e = electric_of<2 * m>(s, kept, t, n, first, at, axis, psi, old, kept.before[m][m ? was : now], before);
        keep_psi<Real, steps, m>(s, kept, t, 0, now, at, axis, i, i >= t.first && n < last, psi);
    }
    const auto magnetic = [&] {
        const int axis = slab_of(s, t, i - 1);
        Psi<Real> psi = psi_before<Real, steps, m>(kept, t, 1, now, at);
        const Three<Real> h =
            magnetic_of<2 * m + 1>(s, kept, t, n, first, at, axis, psi, before, kept.after[m][was], e);
        keep_psi<Real, steps, m>(s, kept, t, 1, now, at, axis, i - 1, true, psi);
        return h;
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

template <class Real, int steps, bool slab>
NEARFIELD_CELL void clear(Positions<Real, steps, slab>& kept, const Spot& at) {
    const Three<Real> zeros{all_four(Real(0)), all_four(Real(0)), all_four(Real(0))};
    for (int step = 0; step < steps; ++step)
        for (int parity = 0; parity < 2; ++parity)
            lay(kept.before[step][parity], at, zeros), lay(kept.after[step][parity], at, zeros);
}

// Numbers of one half along the axes, past the domain's ends those of its last samples.
template <class Real, int steps, bool slab>
NEARFIELD_CELL void keep_lengths(const Sweep<Real>& s, const SweepHalf<Real>& h, const Prism& p, int first, int half,
                                 Positions<Real, steps, slab>& kept, int thread) {
    const auto within = [](int n, int count) { return n < count ? n : count - 1; };
    const auto keep = [&](int kind, const Real* a, const Real* b, const Real* c) {
        if (thread < planes_made) kept.a[half][kind][thread] = a[within(first + thread, s.planes)];
        if (thread < rows_of_prism) kept.b[half][kind][thread] = b[within(p.first_j + thread, s.rows)];
        if (thread < cells_of_prism)
            kept.c[half][kind][thread] = c[within(p.first_k + thread, lanes_of_block * s.blocks)];
    };
    keep(0, h.a.inverse, h.b.inverse, h.c.inverse);
    if constexpr (slab) keep(1, h.a.decay, h.b.decay, h.c.decay), keep(2, h.a.drive, h.b.drive, h.c.drive);
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
template <class Real, int steps, bool slab>
NEARFIELD_CELL void begin(const Sweep<Real>& s, const Positioned& at_work, Positions<Real, steps, slab>& kept,
                          Kept<Real, slab>& t, const Spot& at) {
    const Prism& p = at_work.p;
    const int first = at_work.first, k = p.first_k + at.x;
    clear(kept, at);
    keep_lengths(s, s.electric, p, first, 0, kept, at.thread);
    keep_lengths(s, s.magnetic, p, first, 1, kept, at.thread);
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
    if constexpr (slab) {
        t.across = s.slab[1].holds(t.j) ? 1 : s.slab[2].holds(k / lanes_of_block) ? 2 : no_slab;
        t.psi[0] = psi_of(s, slab_of(s, t, first), first, t.j, k, 0);
    }
    t.place += s.plane;
}

// What a thread asks memory for at a position, and takes at its end: plane n + 1, in slabs psi of H of plane n.
template <class Real, bool slab>
struct AheadOfSlab {
    Psi<Real> psi[2];
};
template <class Real>
struct AheadOfSlab<Real, false> {};
template <class Real, bool slab>
struct Ahead : AheadOfSlab<Real, slab> {
    Three<Real> e, h;
    unsigned of_electric, of_magnetic;
};
template <class Real, bool slab>
NEARFIELD_CELL Ahead<Real, slab> read_ahead(const Sweep<Real>& s, Kept<Real, slab>& t, int n, int end) {
    Ahead<Real, slab> next = {};
    if constexpr (slab)
        if (n < end) next.psi[1] = psi_of(s, slab_of(s, t, n), n, t.j, t.k(), 1);
    if (n + 1 >= end) return next;
    if constexpr (slab) next.psi[0] = psi_of(s, slab_of(s, t, n + 1), n + 1, t.j, t.k(), 0);
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

template <class Real, int steps, bool slab>
constexpr unsigned long memory_of_prism = sizeof(Positions<Real, steps, slab>);
template <class Real, int steps, bool slab>
NEARFIELD_CELL void sweep_prism(const Sweep<Real>& s) {
    const Positioned at_work = positioned(s, steps);
    auto& kept = block_memory<Positions<Real, steps, slab>>();
    Each<Kept<Real, slab>> each;
    const auto spot = [](int thread) {
        return Spot{thread % (cells_of_prism / 4) * 4, thread / (cells_of_prism / 4), thread};
    };
    phase(each, [&](Kept<Real, slab>& t, int thread) { begin(s, at_work, kept, t, spot(thread)); });
    for (int n = at_work.first; n <= at_work.last; ++n)
        phase(each, [&](Kept<Real, slab>& t, int thread) {
            const Spot at = spot(thread);
            if (t.j < 0) return;
            if (n < at_work.end) know(s.electric, t.of_electric), know(s.magnetic, t.of_magnetic);
            const Ahead<Real, slab> next = read_ahead(s, t, n, at_work.end);
            if constexpr (steps == 2) make_step<Real, steps, 1>(s, kept, t, n, at_work.first, at_work.last, at);
            make_step<Real, steps, 0>(s, kept, t, n, at_work.first, at_work.last, at);
            lay(kept.before[0][(n + 1) & 1], at, next.h);
            if constexpr (slab) t.psi[0] = next.psi[0], t.psi[1] = next.psi[1];
            t.of_electric.entry = next.of_electric, t.of_magnetic.entry = next.of_magnetic;
            t.electric = next.e, t.place += s.plane;
        });
}

}  // namespace nearfield::cuda
