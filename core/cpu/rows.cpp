// The update of one row. Equation, E (H alike, forward differences, minus sign):
//     Ex = Ca Ex + Cb ( d(Hz)/db - d(Hy)/dc ),   d(.)/du = difference c dt / (kappa length) [+ psi in a CPML slab]
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
};

// Each half step keeps two of the four psi of a slab cell: E the first two, H the last two.
template <class Real, bool electric>
Row<Real> gather(Block<Real>& d, long i, long j) {
    const Layout& l = d.layout;
    const int own = electric ? 0 : 3, other = 3 - own;
    const long step = electric ? -1 : 1;
    Row<Real> r;
    for (int component = 0; component < 3; ++component) r.updated[component] = d.field(own + component, i, j);
    r.x = d.field(other, i, j), r.y = d.field(other + 1, i, j), r.z = d.field(other + 2, i, j);
    r.a_y = d.field(other + 1, i + step, j), r.a_z = d.field(other + 2, i + step, j);
    r.b_x = d.field(other, i, j + step), r.b_z = d.field(other + 2, i, j + step);
    const long half = electric ? 0 : 2 * lanes;
    r.a_psi = l.slab[0].holds(i, l.na) ? d.a_psi.get() + l.a_psi(i, j) + half : nullptr;
    r.b_psi = l.slab[1].holds(j, l.nb) ? d.b_psi.get() + l.b_psi(i, j) + half : nullptr;
    r.c_psi = d.records.get() + l.c_psi(i, j) + half;
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
    r.c_low = l.c_low(), r.c_skip = l.c_high() - l.c_low();
    const Palette<Real>& palette = electric ? d.electric : d.magnetic;
    const Program& program = palette.program(i, j);
    r.values = palette.values(), r.runs = palette.runs() + program.first, r.count = program.count;
    return r;
}

template <class V, class Real>
inline V stretch(V difference, V inverse, Real decay, Real drive, Real* psi) {
    V p = load(psi);
    const V value = stretched<V, V>(difference, inverse, broadcast(decay), broadcast(drive), p);
    store(psi, p);
    return value;
}

// One run of blocks that share their coefficients. `ASlab`, `BSlab`, `CSlab`: the row, or the run, lies in a CPML.
template <class Real, bool electric, Kind kind, bool ASlab, bool BSlab, bool CSlab>
void run_blocks(const Row<Real>& r, const Run& run, long first, long last) {
    using V = typename Vector<Real>::type;
    constexpr long W = Vector<Real>::width, back = electric ? -1 : 0, ahead = electric ? 0 : 1;
    const Real* palette = r.values + lanes * run.offset;
    const V ai = broadcast(r.a_inverse), bi = broadcast(r.b_inverse);
    const V ux = broadcast(palette[0]), uy = broadcast(palette[lanes]), uz = broadcast(palette[2 * lanes]);
    for (long block = first; block < last; ++block) {
        const long psi_block = CSlab ? 4 * lanes * (block < r.c_low ? block : block - r.c_skip) : 0;
        for (long lane = 0; lane < lanes; lane += W) {
            const long o = lanes * block + lane;
            const V X = load(r.x + o), Y = load(r.y + o), Z = load(r.z + o), ci = load(r.c_inverse + o);
            // Differences are upper minus lower sample: E looks back, H looks ahead.
            const V cX = load(r.x + o + ahead) - load(r.x + o + back), cY = load(r.y + o + ahead) - load(r.y + o + back);
            const V aY = electric ? Y - load(r.a_y + o) : load(r.a_y + o) - Y;
            const V aZ = electric ? Z - load(r.a_z + o) : load(r.a_z + o) - Z;
            const V bX = electric ? X - load(r.b_x + o) : load(r.b_x + o) - X;
            const V bZ = electric ? Z - load(r.b_z + o) : load(r.b_z + o) - Z;
            V dcX, dcY, daY, daZ, dbX, dbZ;
            if constexpr (CSlab) {
                Real* psi = r.c_psi + psi_block + lane;
                const V decay = load(r.c_decay + o), drive = load(r.c_drive + o);
                V p = load(psi), q = load(psi + lanes);
                dcY = stretched<V, V>(cY, ci, decay, drive, p), dcX = stretched<V, V>(cX, ci, decay, drive, q);
                store(psi, p), store(psi + lanes, q);
            } else {
                dcY = cY * ci, dcX = cX * ci;
            }
            const long slab = 4 * lanes * block + lane;
            if constexpr (BSlab) {
                dbZ = stretch(bZ, bi, r.b_decay, r.b_drive, r.b_psi + slab);
                dbX = stretch(bX, bi, r.b_decay, r.b_drive, r.b_psi + slab + lanes);
            } else {
                dbZ = bZ * bi, dbX = bX * bi;
            }
            if constexpr (ASlab) {
                daZ = stretch(aZ, ai, r.a_decay, r.a_drive, r.a_psi + slab);
                daY = stretch(aY, ai, r.a_decay, r.a_drive, r.a_psi + slab + lanes);
            } else {
                daZ = aZ * ai, daY = aY * ai;
            }
            Real *fx = r.updated[0] + o, *fy = r.updated[1] + o, *fz = r.updated[2] + o;
            const Real* c = palette + lane;
            if constexpr (kind == Kind::lossy) {
                const auto put = [&](Real* f, const Real* q, V one, V two) {
                    if constexpr (electric)
                        store(f, advance_electric<V, V>(load(f), load(q), load(q + lanes), one, two));
                    else
                        store(f, advance_magnetic<V, V>(load(f), load(q), load(q + lanes), one, two));
                };
                put(fx, c, dbZ, dcY), put(fy, c + 2 * lanes, dcX, daZ), put(fz, c + 4 * lanes, daY, dbX);
            } else {
                const auto put = [&](Real* f, V drive, V one, V two) {
                    if constexpr (electric)
                        store(f, advance_electric<V, V>(load(f), drive, one, two));
                    else
                        store(f, advance_magnetic<V, V>(load(f), drive, one, two));
                };
                constexpr bool uniform = kind == Kind::uniform;
                put(fx, uniform ? ux : load(c), dbZ, dcY);
                put(fy, uniform ? uy : load(c + lanes), dcX, daZ);
                put(fz, uniform ? uz : load(c + 2 * lanes), daY, dbX);
            }
        }
    }
}

template <class Real, bool electric, bool ASlab, bool BSlab>
void run_row(const Row<Real>& r, long first, long last) {
    for (const Run* run = r.runs; run != r.runs + r.count; ++run) {
        const long from = std::max<long>(first, run->first), to = std::min<long>(last, run->last);
        if (from >= to) continue;
        const auto go = [&]<Kind kind>() {
            run->stretched ? run_blocks<Real, electric, kind, ASlab, BSlab, true>(r, *run, from, to)
                           : run_blocks<Real, electric, kind, ASlab, BSlab, false>(r, *run, from, to);
        };
        switch (run->kind) {
            case Kind::uniform: go.template operator()<Kind::uniform>(); break;
            case Kind::lossless: go.template operator()<Kind::lossless>(); break;
            case Kind::lossy: go.template operator()<Kind::lossy>(); break;
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
