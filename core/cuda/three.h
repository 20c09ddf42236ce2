// Three components of four samples, and the end of their update where there is no slab of the CPML.
#pragma once

#include "plan.h"
#include "update.h"

namespace nearfield::cuda {

template <class Real>
struct Three {
    Four<Real> x, y, z;
};
// `field`: from one component to the next.
template <class Real>
NEARFIELD_CELL Three<Real> three(const Real* at, int field) {
    return {load(at), load(at + field), load(at + 2 * field)};
}
template <class Real>
NEARFIELD_CELL void store(Real* at, int field, const Three<Real>& t) {
    store(at, t.x), store(at + field, t.y), store(at + 2 * field, t.z);
}
template <class Real>
NEARFIELD_CELL void send(Real* at, int field, const Three<Real>& t) {
    send(at, t.x), send(at + field, t.y), send(at + 2 * field, t.z);
}

// From derivatives, with the coefficients of an entry of the palette.
template <class Real, bool electric>
NEARFIELD_CELL Three<Real> advanced(const SweepHalf<Real>& h, unsigned entry, int k, const Three<Real>& old,
                                    const Three<Real>& da, const Three<Real>& db, const Three<Real>& dc) {
    const bool lossy = entry & entry_is_lossy;
    const Real* const values = h.values + lanes_of_block * (entry & entry_place) + k % lanes_of_block;
    return {advanced<Real, electric>(old.x, db.z, dc.y, lossy, values, 0),
            advanced<Real, electric>(old.y, dc.x, da.z, lossy, values, 1),
            advanced<Real, electric>(old.z, da.y, db.x, lossy, values, 2)};
}

}  // namespace nearfield::cuda
