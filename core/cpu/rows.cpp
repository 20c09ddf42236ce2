// The update of one row. Equation, E (H alike, forward differences, minus sign):
//     Ex = Ca Ex + Cb ( d(Hz)/db - d(Hy)/dc ),   d(.)/du = difference u / (kappa length) [+ psi in a CPML slab],
// u the plan's unit length; c dt/u is in Cb, so that on a grid of cubes the factor is exactly 1 and is left out.
// Layout: core/layout.hpp. Traffic: 24 + 24 bytes read and written a cell for a fused E and H sweep in single
// precision, 32 more in each CPML slab; coefficients come from a palette that stays in L1.
// Compiled with NEARFIELD_ISA (a namespace) and NEARFIELD_VECTOR_BYTES by CMake.

#include "rows.hpp"

#include <cstring>

#include "update.h"

namespace nearfield::NEARFIELD_ISA {

template <class Real>
struct Vector {
    static constexpr long width = NEARFIELD_VECTOR_BYTES / sizeof(Real);
    typedef Real type __attribute__((vector_size(NEARFIELD_VECTOR_BYTES)));
    typedef Real unaligned __attribute__((vector_size(NEARFIELD_VECTOR_BYTES), aligned(alignof(Real)), may_alias));
};
template <class Real>
inline typename Vector<Real>::type load(const Real* p) {
    return *reinterpret_cast<const typename Vector<Real>::unaligned*>(p);
}
template <class Real>
inline void store(Real* p, typename Vector<Real>::type v) {
    *reinterpret_cast<typename Vector<Real>::unaligned*>(p) = v;
}
template <class Real>
inline typename Vector<Real>::type broadcast(Real value) {
    return value - typename Vector<Real>::type{};  // minus zero keeps the sign of a zero
}

// Everything a row needs, gathered once: own fields, the neighbours that the curl reads, psi, profiles.
template <class Real>
struct Row {
    Real *updated[3];
    const Real *x, *y, *z;                  // the other field, own row
    const Real *a_y, *a_z, *b_x, *b_z;      // the other field, neighbour rows along a and b
    Real *a_psi, *b_psi, *c_psi;            // null outside the slabs
    Real a_inverse, b_inverse, a_decay, a_drive, b_decay, b_drive;
    const Real *c_inverse, *c_decay, *c_drive;
    long c_low, c_skip;  // blocks from c_low on count their psi c_skip lower
    const Real* values;
    const Run* runs;
    std::uint32_t count;
    bool unit;  // all three inverse lengths are exactly 1 outside the c slabs
};

// Each half step keeps two of the four psi of a slab cell: E the first two, H the last two.
template <class Real, bool electric>
Row<Real> gather(Block<Real>& d, long i, long j) {
    const Layout& l = d.layout;
    const int own = electric ? 0 : 3, other = 3 - own;
    const long step = electric ? -1 : 1;
    Row<Real> r;
    Real* const record = d.records.get() + l.record(i, j) + lanes;
    Real *const mine = record + own * l.field_length, *const read = record + other * l.field_length;
    for (int component = 0; component < 3; ++component) r.updated[component] = mine + component * l.field_length;
    r.x = read, r.y = read + l.field_length, r.z = read + 2 * l.field_length;
    r.a_y = r.y + step * l.plane_length, r.a_z = r.z + step * l.plane_length;
    r.b_x = r.x + step * l.record_length, r.b_z = r.z + step * l.record_length;
    const long half = electric ? 0 : 2 * lanes;
    r.a_psi = l.slab[0].holds(i, l.na) ? d.a_psi.get() + l.a_psi(i, j) + half : nullptr;
    r.b_psi = l.slab[1].holds(j, l.nb) ? d.b_psi.get() + l.b_psi(i, j) + half : nullptr;
    r.c_psi = record - lanes + 6 * l.field_length + half;
    const Profile<Real>&pa = d.profile[0], &pb = d.profile[1], &pc = d.profile[2];
    r.a_inverse = electric ? pa.inverse_dual[i] : pa.inverse_primary[i];
    r.b_inverse = electric ? pb.inverse_dual[j] : pb.inverse_primary[j];
    r.a_decay = electric ? pa.decay_electric[i] : pa.decay_magnetic[i];
    r.a_drive = electric ? pa.drive_electric[i] : pa.drive_magnetic[i];
    r.b_decay = electric ? pb.decay_electric[j] : pb.decay_magnetic[j];
    r.b_drive = electric ? pb.drive_electric[j] : pb.drive_magnetic[j];
    r.c_inverse = electric ? pc.inverse_dual.data() : pc.inverse_primary.data();
    r.c_decay = electric ? pc.decay_electric.data() : pc.decay_magnetic.data();
    r.c_drive = electric ? pc.drive_electric.data() : pc.drive_magnetic.data();
    r.unit = (electric ? pc.unit_dual : pc.unit_primary) && r.a_inverse == 1 && r.b_inverse == 1;
    r.c_low = l.c_low, r.c_skip = l.c_high - l.c_low;
    const Palette<Real>& palette = electric ? d.electric : d.magnetic;
    const Program& program = palette.program(i, j);
    r.values = palette.values(), r.runs = palette.runs() + program.first, r.count = program.count;
    return r;
}

// The vector one sample below `here`, whose last lane of the vector before stands first. With the widest vectors a lane
// shift is cheaper than a load that straddles two lines; with narrower ones the load is.
template <class Real>
inline typename Vector<Real>::type one_below(typename Vector<Real>::type before, typename Vector<Real>::type here,
                                             [[maybe_unused]] const Real* p) {
#if NEARFIELD_VECTOR_BYTES == 64
    if constexpr (sizeof(Real) == 4)
        return __builtin_shufflevector(before, here, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30);
    else
        return __builtin_shufflevector(before, here, 7, 8, 9, 10, 11, 12, 13, 14);
#else
    (void)before, (void)here;
    return load(p - 1);
#endif
}
// The vector one sample above `here`.
template <class Real>
inline typename Vector<Real>::type one_above(typename Vector<Real>::type here, typename Vector<Real>::type after,
                                             [[maybe_unused]] const Real* p) {
#if NEARFIELD_VECTOR_BYTES == 64
    if constexpr (sizeof(Real) == 4)
        return __builtin_shufflevector(here, after, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16);
    else
        return __builtin_shufflevector(here, after, 1, 2, 3, 4, 5, 6, 7, 8);
#else
    (void)here, (void)after;
    return load(p + 1);
#endif
}

template <class V, class Real>
inline V stretch(V difference, V inverse, Real decay, Real drive, Real* psi) {
    V p = load(psi);
    const V value = stretched<V, V>(difference, inverse, broadcast(decay), broadcast(drive), p);
    store(psi, p);
    return value;
}

// One row: runs of blocks that share their coefficients, one vector after the other. `ASlab`, `BSlab`: the row lies in
// a CPML. Pointers are copied to locals, because the stores may alias anything that lies in memory.
template <class Real, bool electric, bool ASlab, bool BSlab>
void run_row(const Row<Real>& r, long from, long to) {
    using V = typename Vector<Real>::type;
    constexpr long W = Vector<Real>::width;
    const Real* const c_inverse = r.c_inverse;
    const Real *const x = r.x, *const y = r.y, *const z = r.z;
    const Real *const a_y = r.a_y, *const a_z = r.a_z, *const b_x = r.b_x, *const b_z = r.b_z;
    Real *const fx = r.updated[0], *const fy = r.updated[1], *const fz = r.updated[2];
    const V ai = broadcast(r.a_inverse), bi = broadcast(r.b_inverse);
    // The last vectors of x and y for E, which looks back along c; the present ones for H, which looks ahead.
    V carryX = load(x + lanes * from - (electric ? W : 0)), carryY = load(y + lanes * from - (electric ? W : 0));

    const auto cells = [&]<Kind kind, bool CSlab, bool unit>(long o, const Real* c, V ux, V uy, V uz) __attribute__((always_inline)) {
        V X, Y, cX, cY;
        const V Z = load(z + o), ci = unit ? V{} : load(c_inverse + o);
        if constexpr (electric) {
            X = load(x + o), Y = load(y + o);
            cX = X - one_below<Real>(carryX, X, x + o), cY = Y - one_below<Real>(carryY, Y, y + o);
            carryX = X, carryY = Y;
        } else {
            X = carryX, Y = carryY;
            carryX = load(x + o + W), carryY = load(y + o + W);
            cX = one_above<Real>(X, carryX, x + o) - X, cY = one_above<Real>(Y, carryY, y + o) - Y;
        }
        // Differences are upper minus lower sample.
        const V aY = electric ? Y - load(a_y + o) : load(a_y + o) - Y;
        const V aZ = electric ? Z - load(a_z + o) : load(a_z + o) - Z;
        const V bX = electric ? X - load(b_x + o) : load(b_x + o) - X;
        const V bZ = electric ? Z - load(b_z + o) : load(b_z + o) - Z;
        const long block = o / lanes, lane = o % lanes, slab = 4 * lanes * block + lane;
        V dcX, dcY, daY, daZ, dbX, dbZ;
        if constexpr (CSlab) {
            Real* psi = r.c_psi + 4 * lanes * (block < r.c_low ? block : block - r.c_skip) + lane;
            const V decay = load(r.c_decay + o), drive = load(r.c_drive + o);
            V p = load(psi), q = load(psi + lanes);
            dcY = stretched<V, V>(cY, ci, decay, drive, p), dcX = stretched<V, V>(cX, ci, decay, drive, q);
            store(psi, p), store(psi + lanes, q);
        } else {
            dcY = unit ? cY : cY * ci, dcX = unit ? cX : cX * ci;
        }
        if constexpr (BSlab) {
            dbZ = stretch(bZ, bi, r.b_decay, r.b_drive, r.b_psi + slab);
            dbX = stretch(bX, bi, r.b_decay, r.b_drive, r.b_psi + slab + lanes);
        } else {
            dbZ = unit ? bZ : bZ * bi, dbX = unit ? bX : bX * bi;
        }
        if constexpr (ASlab) {
            daZ = stretch(aZ, ai, r.a_decay, r.a_drive, r.a_psi + slab);
            daY = stretch(aY, ai, r.a_decay, r.a_drive, r.a_psi + slab + lanes);
        } else {
            daZ = unit ? aZ : aZ * ai, daY = unit ? aY : aY * ai;
        }
        if constexpr (kind == Kind::lossy) {
            const auto put = [&](Real* f, const Real* q, V one, V two) {
                if constexpr (electric)
                    store(f, advance_electric<V, V>(load(f), load(q), load(q + lanes), one, two));
                else
                    store(f, advance_magnetic<V, V>(load(f), load(q), load(q + lanes), one, two));
            };
            c += lane;
            put(fx + o, c, dbZ, dcY), put(fy + o, c + 2 * lanes, dcX, daZ), put(fz + o, c + 4 * lanes, daY, dbX);
        } else {
            const auto put = [&](Real* f, V drive, V one, V two) {
                if constexpr (electric)
                    store(f, advance_electric<V, V>(load(f), drive, one, two));
                else
                    store(f, advance_magnetic<V, V>(load(f), drive, one, two));
            };
            constexpr bool uniform = kind == Kind::uniform;
            c += lane;
            put(fx + o, uniform ? ux : load(c), dbZ, dcY);
            put(fy + o, uniform ? uy : load(c + lanes), dcX, daZ);
            put(fz + o, uniform ? uz : load(c + 2 * lanes), daY, dbX);
        }
    };

    for (const Run *run = r.runs, *end = r.runs + r.count; run != end; ++run) {
        const long first = lanes * std::max<long>(from, run->first), last = lanes * std::min<long>(to, run->last);
        const Real* c = r.values + lanes * run->offset;
        const auto go = [&]<Kind kind, bool CSlab>() __attribute__((always_inline)) {
            const V ux = broadcast(c[0]), uy = broadcast(c[lanes]), uz = broadcast(c[2 * lanes]);
            if constexpr (!ASlab && !BSlab && !CSlab)
                if (r.unit) {
                    for (long o = first; o < last; o += W) cells.template operator()<kind, false, true>(o, c, ux, uy, uz);
                    return;
                }
            for (long o = first; o < last; o += W) cells.template operator()<kind, CSlab, false>(o, c, ux, uy, uz);
        };
        switch (2 * int(run->kind) + run->stretched) {
            case 0: go.template operator()<Kind::uniform, false>(); break;
            case 1: go.template operator()<Kind::uniform, true>(); break;
            case 2: go.template operator()<Kind::lossless, false>(); break;
            case 3: go.template operator()<Kind::lossless, true>(); break;
            case 4: go.template operator()<Kind::lossy, false>(); break;
            case 5: go.template operator()<Kind::lossy, true>(); break;
        }
    }
}

template <class Real, bool electric>
void update(Block<Real>& d, long i, long j, long first, long last) {
    const Row<Real> r = gather<Real, electric>(d, i, j);
    if (r.a_psi)
        r.b_psi ? run_row<Real, electric, true, true>(r, first, last) : run_row<Real, electric, true, false>(r, first, last);
    else
        r.b_psi ? run_row<Real, electric, false, true>(r, first, last) : run_row<Real, electric, false, false>(r, first, last);
}

template <class Real>
double energy(const Real* row, long stride, long length) {
    double sum[lanes] = {};
    for (int component = 0; component < 6; ++component) {
        const Real* p = row + component * stride;
        for (long k = 0; k < length; k += lanes)
            for (long lane = 0; lane < lanes; ++lane) sum[lane] += double(p[k + lane]) * double(p[k + lane]);
    }
    double total = 0;
    for (double s : sum) total += s;
    return total;
}

template <class Real>
void fourier(Real* __restrict re, Real* __restrict im, const Real* __restrict value, long length, Real c, Real s) {
    for (long k = 0; k < length; ++k) re[k] += value[k] * c, im[k] += value[k] * s;
}

template <class Real>
constexpr Rows<Real> table{update<Real, true>, update<Real, false>, energy<Real>, fourier<Real>};

const Rows<float>& rows_single() { return table<float>; }
const Rows<double>& rows_double() { return table<double>; }

}  // namespace nearfield::NEARFIELD_ISA
