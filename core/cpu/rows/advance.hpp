// The update of a run of blocks of one row. Equation, E (H alike, forward differences, minus sign):
//     Ex = Ca Ex + Cb ( d(Hz)/db - d(Hy)/dc ),   d(.)/du = difference u / (kappa length) [+ psi in a CPML slab],
// u the plan's unit length; c dt/u is in Cb, so that on a grid of cubes the factor is exactly 1 and is left out.
// Layout: core/layout.hpp. Traffic: 24 + 24 bytes read and written a cell for a fused E and H sweep in single
// precision, 32 more in each CPML slab; coefficients come from a palette that stays in L1.
#pragma once

#include <cstdint>

#include "cell/cpml.h"
#include "cell/curl.h"
#include "cpu/rows.hpp"
#include "vectors.hpp"

namespace nearfield::NEARFIELD_ISA {

// The differences of a whole run along an axis in one of its slabs: broadcast numbers, psi where `states` points.
template <class Real>
struct Stretch {
    using V = typename Vector<Real>::type;
    V inverse, decay, drive;
    Real* psi;
    Stretch(const typename HalfStep<Real>::Axis& axis, long n, Real* states)
        : inverse(broadcast(axis.inverse[n])), decay(broadcast(axis.decay[n])), drive(broadcast(axis.drive[n])),
          psi(states) {}
    V operator()(V difference, std::size_t at) const {
        V p = load(psi + at);
        const V value = cell::stretched(difference, inverse, decay, drive, p);
        store(psi + at, p);
        return value;
    }
};

// Where a run lies: its row, the offset of the row's record, cells [first, last) of it, its coefficients: of all its
// blocks, or in the places that each has.
template <class Real>
struct Place {
    long i, j, at;
    std::size_t first, last;
    const Real* values;
    const std::uint32_t* places;
};

// One run. `ASlab`, `BSlab`, `CSlab`: in a CPML along that axis; `unit`: inverse lengths along the other axes are
// exactly 1. A function of its own for each variant: all its pointers stay in registers. They are locals, because the
// stores may alias anything that lies in memory.
template <class Real, bool electric, bool ASlab, bool BSlab, bool unit, Kind kind, bool CSlab>
void advance_run(const HalfStep<Real>& h, const Place<Real>& place) {
    using V = typename Vector<Real>::type;
    constexpr std::size_t W = Vector<Real>::width;
    constexpr long towards = electric ? -1 : 1;
    Real *const fx = h.updated + place.at, *const fy = fx + h.field, *const fz = fy + h.field;
    const Real *const x = h.read + place.at, *const y = x + h.field, *const z = y + h.field;
    const Real *const a_y = y + towards * h.plane, *const a_z = z + towards * h.plane;
    const Real *const b_x = x + towards * h.record, *const b_z = z + towards * h.record;
    const V ai = broadcast(h.a.inverse[place.i]), bi = broadcast(h.b.inverse[place.j]);
    const Stretch<Real> stretch_a(h.a, place.i, ASlab ? h.a_psi + h.layout->a_psi(place.i, place.j) : nullptr);
    const Stretch<Real> stretch_b(h.b, place.j, BSlab ? h.b_psi + h.layout->b_psi(place.i, place.j) : nullptr);
    const Real *const c_inverse = h.c.inverse, *const c_decay = h.c.decay, *const c_drive = h.c.drive;
    // psi of the slabs along c lie without a gap: those of the upper one follow those of the lower.
    Real* const c_psi = h.c_psi + place.at - (place.first >= h.c_gap.first ? 4 * h.c_gap.length : 0);
    const Real* const values = place.values;
    const std::uint32_t* const places = place.places;
    const V ux = broadcast(values[0]), uy = broadcast(values[lanes]), uz = broadcast(values[2 * lanes]);
    // The last vectors of x and y for E, which looks back along c; the present ones for H, which looks ahead.
    V carryX = load(x + place.first - (electric ? W : 0)), carryY = load(y + place.first - (electric ? W : 0));

    for (std::size_t begin = place.first, o = begin, last = place.last; o < last; o += W) {
        V X, Y, cX, cY;
        const V Z = load(z + o);
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
        const std::size_t lane = o % lanes, states = 4 * (o - lane) + lane;
        V dcX, dcY, daY, daZ, dbX, dbZ;
        if constexpr (CSlab) {
            const V inverse = load(c_inverse + o), decay = load(c_decay + o), drive = load(c_drive + o);
            V p = load(c_psi + states), q = load(c_psi + states + lanes);
            dcY = cell::stretched(cY, inverse, decay, drive, p), dcX = cell::stretched(cX, inverse, decay, drive, q);
            store(c_psi + states, p), store(c_psi + states + lanes, q);
        } else if constexpr (unit) {
            dcY = cY, dcX = cX;
        } else {
            const V inverse = load(c_inverse + o);
            dcY = cY * inverse, dcX = cX * inverse;
        }
        if constexpr (BSlab)
            dbZ = stretch_b(bZ, states), dbX = stretch_b(bX, states + lanes);
        else
            dbZ = unit ? bZ : bZ * bi, dbX = unit ? bX : bX * bi;
        if constexpr (ASlab)
            daZ = stretch_a(aZ, states), daY = stretch_a(aY, states + lanes);
        else
            daZ = unit ? aZ : aZ * ai, daY = unit ? aY : aY * ai;
        if constexpr (kind == Kind::lossy) {
            const auto put = [&](Real* f, const Real* q, V one, V two) {
                if constexpr (electric)
                    store(f, cell::advance_electric(load(f), load(q), load(q + lanes), one, two));
                else
                    store(f, cell::advance_magnetic(load(f), load(q), load(q + lanes), one, two));
            };
            const Real* const c = values + lanes * places[(o - begin) / lanes] + lane;
            put(fx + o, c, dbZ, dcY), put(fy + o, c + 2 * lanes, dcX, daZ), put(fz + o, c + 4 * lanes, daY, dbX);
        } else {
            const auto put = [&](Real* f, V drive, V one, V two) {
                if constexpr (electric)
                    store(f, cell::advance_electric(load(f), drive, one, two));
                else
                    store(f, cell::advance_magnetic(load(f), drive, one, two));
            };
            constexpr bool uniform = kind == Kind::uniform;
            const Real* const c = uniform ? nullptr : values + lanes * places[(o - begin) / lanes] + lane;
            put(fx + o, uniform ? ux : load(c), dbZ, dcY);
            put(fy + o, uniform ? uy : load(c + lanes), dcX, daZ);
            put(fz + o, uniform ? uz : load(c + 2 * lanes), daY, dbX);
        }
    }
}

template <class Real>
using Advance = void (*)(const HalfStep<Real>&, const Place<Real>&);

// The variants of a row by [in a slab along a][along b][unit], and of its runs by [kind][stretched].
template <class Real, bool electric, bool ASlab, bool BSlab, bool unit>
constexpr Advance<Real> of_runs[6] = {
    advance_run<Real, electric, ASlab, BSlab, unit, Kind::uniform, false>,
    advance_run<Real, electric, ASlab, BSlab, unit, Kind::uniform, true>,
    advance_run<Real, electric, ASlab, BSlab, unit, Kind::lossless, false>,
    advance_run<Real, electric, ASlab, BSlab, unit, Kind::lossless, true>,
    advance_run<Real, electric, ASlab, BSlab, unit, Kind::lossy, false>,
    advance_run<Real, electric, ASlab, BSlab, unit, Kind::lossy, true>,
};
template <class Real, bool electric>
constexpr const Advance<Real>* of_rows[8] = {
    of_runs<Real, electric, false, false, false>, of_runs<Real, electric, false, false, true>,
    of_runs<Real, electric, false, true, false>,  of_runs<Real, electric, false, true, true>,
    of_runs<Real, electric, true, false, false>,  of_runs<Real, electric, true, false, true>,
    of_runs<Real, electric, true, true, false>,   of_runs<Real, electric, true, true, true>,
};

}  // namespace nearfield::NEARFIELD_ISA
