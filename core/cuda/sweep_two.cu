// Two whole steps in one pass where nothing but the update happens, outside of the CPML: fields before both steps in one
// set of records, after both in another.
// Layout: records of core/layout.hpp, twice. A block of threads makes a prism: 16 rows of 64 cells, plane after plane; a
// thread makes four samples of all six components. At position n it makes
//     E of plane n and H of plane n - 1 after the first step, E of plane n - 2 and H of plane n - 3 after the second,
// from what the position before has left in the block's memory, in two places for even and odd positions: one barrier a
// position. What lies within two rows or four cells of a side that is not the domain's own is not known to the end, is
// not stored, and belongs to a neighbour. Traffic in single precision: 48 bytes a cell for both steps, 24 for each four
// planes more that a prism begins and ends with; sides are read twice, from the second-level cache.
#include "three.h"

namespace nearfield::cuda {

template <class Real>
using Laid = Real[3][rows_of_prism][cells_of_prism];
template <class Real>
struct Positions {            // by step of the pass and parity of the position
    Laid<Real> before[2][2];  // H before the step
    Laid<Real> after[2][2];   // E after it
};
// What a thread has read ahead, and entries of the palette of the planes that it is at.
template <class Real>
struct Ahead {
    Three<Real> electric;
    unsigned of_electric[3], of_magnetic[4];  // of planes n, n - 1, ...
};
struct Spot {  // of four samples: in the prism, in the domain
    int x, y, j, k;
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

// E of plane i after a step, from H of that plane and of the one before it.
template <class Real>
NEARFIELD_CELL Three<Real> electric_of(const SweepTwo<Real>& s, bool unit, int i, const Spot& at, unsigned entry,
                                       const Three<Real>& old, const Laid<Real>& here, const Three<Real>& before) {
    const Three<Real> h = own(here, at);
    const Four<Real> cX{one_or_zero(here, 0, at.y, at.x - 1), h.x.x, h.x.y, h.x.z};
    const Four<Real> cY{one_or_zero(here, 1, at.y, at.x - 1), h.y.x, h.y.y, h.y.z};
    Three<Real> da{h.x, h.y - before.y, h.z - before.z};
    Three<Real> db{h.x - four_or_zero(here, 0, at.y - 1, at.x), h.y, h.z - four_or_zero(here, 2, at.y - 1, at.x)};
    Three<Real> dc{h.x - cX, h.y - cY, h.z};
    if (!unit) divide(s.electric, i, at.j, at.k, da, db, dc);
    return advanced<Real, true>(s.electric, entry, at.k, old, da, db, dc);
}

// H of plane i after a step, from E of that plane and of the one after it.
template <class Real>
NEARFIELD_CELL Three<Real> magnetic_of(const SweepTwo<Real>& s, bool unit, int i, const Spot& at, unsigned entry,
                                       const Three<Real>& old, const Laid<Real>& here, const Three<Real>& next) {
    const Three<Real> e = own(here, at);
    const Four<Real> cX{e.x.y, e.x.z, e.x.w, one_or_zero(here, 0, at.y, at.x + 4)};
    const Four<Real> cY{e.y.y, e.y.z, e.y.w, one_or_zero(here, 1, at.y, at.x + 4)};
    Three<Real> da{e.x, next.y - e.y, next.z - e.z};
    Three<Real> db{four_or_zero(here, 0, at.y + 1, at.x) - e.x, e.y, four_or_zero(here, 2, at.y + 1, at.x) - e.z};
    Three<Real> dc{cX - e.x, cY - e.y, e.z};
    if (!unit) divide(s.magnetic, i, at.j, at.k, da, db, dc);
    return advanced<Real, false>(s.magnetic, entry, at.k, old, da, db, dc);
}

template <class Real>
NEARFIELD_CELL unsigned entry_of(const SweepTwo<Real>& s, const SweepHalf<Real>& h, int i, const Spot& at) {
    return h.entries[h.program_of[i * s.rows + at.j] * s.blocks + at.k / lanes_of_block];
}

// The second step: E of plane n - 2, H of plane n - 3, to memory where they are the prism's own.
template <class Real>
NEARFIELD_CELL void make_second(const SweepTwo<Real>& s, const Prism& p, Positions<Real>& kept, const Ahead<Real>& a,
                                int n, const Spot& at) {
    const int now = n & 1, was = now ^ 1, i = n - 2;
    if (i < 0) return;
    const bool mine = at.j >= p.j && at.j < p.j + p.rows && at.k >= p.k && at.k < p.k + p.cells;
    const Three<Real> before = own(kept.before[1][now], at);  // H of plane n - 3
    Real* const to = s.to + i * s.plane + at.j * s.record + lanes_of_block + at.k;
    Three<Real> e{all_four(Real(0)), all_four(Real(0)), all_four(Real(0))};
    if (i < s.planes)
        e = electric_of(s, p.unit, i, at, a.of_electric[2], own(kept.after[0][now], at), kept.before[1][was], before);
    if (mine && i >= p.i && i < p.i + p.planes) store(to, s.field, e);
    if (mine && i > p.i)
        store(to - s.plane + 3 * s.field, s.field,
              magnetic_of(s, p.unit, i - 1, at, a.of_magnetic[3], before, kept.after[1][was], e));
    lay(kept.after[1][now], at, e);
}

// The first step: E of plane n, H of plane n - 1.
template <class Real>
NEARFIELD_CELL void make_first(const SweepTwo<Real>& s, const Prism& p, Positions<Real>& kept, const Ahead<Real>& a,
                               int n, const Spot& at) {
    const int now = n & 1, was = now ^ 1;
    const Three<Real> before = own(kept.before[0][was], at);  // H of plane n - 1
    Three<Real> e{all_four(Real(0)), all_four(Real(0)), all_four(Real(0))};
    if (n < s.planes) e = electric_of(s, p.unit, n, at, a.of_electric[0], a.electric, kept.before[0][now], before);
    if (n > 0 && n <= s.planes)
        lay(kept.before[1][now], at,
            magnetic_of(s, p.unit, n - 1, at, a.of_magnetic[1], before, kept.after[0][was], e));
    lay(kept.after[0][now], at, e);
}

template <class Real>
NEARFIELD_CELL void clear(Positions<Real>& kept, const Spot& at) {
    const Three<Real> zeros{all_four(Real(0)), all_four(Real(0)), all_four(Real(0))};
    for (int step = 0; step < 2; ++step)
        for (int parity = 0; parity < 2; ++parity)
            lay(kept.before[step][parity], at, zeros), lay(kept.after[step][parity], at, zeros);
}

template <class Real>
NEARFIELD_CELL void sweep_prism(const SweepTwo<Real>& s) {
    const Prism& p = s.prisms[block_number()];
    Positions<Real>& kept = block_memory<Positions<Real>>();
    Each<Ahead<Real>> each;
    const int first = p.i < 2 ? 0 : p.i - 2, last = p.i + p.planes + 2;  // positions
    const auto spot = [&](int thread) {
        const int x = thread % (cells_of_prism / 4) * 4, y = thread / (cells_of_prism / 4);
        return Spot{x, y, p.first_j + y, p.first_k + x};
    };
    phase(each, [&](Ahead<Real>& a, int thread) {
        const Spot at = spot(thread);
        clear(kept, at);
        a = {};
        if (at.j >= s.rows || at.k >= lanes_of_block * s.blocks) return;
        const Real* const from = s.from + first * s.plane + at.j * s.record + lanes_of_block + at.k;
        a.electric = three(from, s.field), lay(kept.before[0][first & 1], at, three(from + 3 * s.field, s.field));
        a.of_electric[0] = entry_of(s, s.electric, first, at), a.of_magnetic[0] = entry_of(s, s.magnetic, first, at);
    });
    for (int n = first; n <= last; ++n)
        phase(each, [&](Ahead<Real>& a, int thread) {
            const Spot at = spot(thread);
            if (at.j >= s.rows || at.k >= lanes_of_block * s.blocks) return;
            Three<Real> e = {}, h = {};
            unsigned of_electric = 0, of_magnetic = 0;
            if (n + 1 < s.planes && n + 1 < last) {
                const Real* const from = s.from + (n + 1) * s.plane + at.j * s.record + lanes_of_block + at.k;
                e = three(from, s.field), h = three(from + 3 * s.field, s.field);
                of_electric = entry_of(s, s.electric, n + 1, at), of_magnetic = entry_of(s, s.magnetic, n + 1, at);
            }
            make_second(s, p, kept, a, n, at);
            make_first(s, p, kept, a, n, at);
            lay(kept.before[0][(n + 1) & 1], at, h);
            a = {e,
                 {of_electric, a.of_electric[0], a.of_electric[1]},
                 {of_magnetic, a.of_magnetic[0], a.of_magnetic[1], a.of_magnetic[2]}};
        });
}

#define SWEEP_TWO(Real, a) sweep_prism<Real>(a)
NEARFIELD_KERNEL_OF(sweep_two, SweepTwo, sizeof(Positions<float>), sizeof(Positions<Wide>), SWEEP_TWO)

}  // namespace nearfield::cuda
