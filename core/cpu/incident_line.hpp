// A plane wave along an axis on a grid of its own (nearfield/incident/line.py): two rows, that of the uniform medium
// and that of the model. Traffic: some ten arrays of a few hundred values, all in L1; a step takes about a microsecond.
#pragma once

#include <array>

#include "cell/cpml.h"
#include "cell/curl.h"
#include "cell/incident.h"

namespace nearfield {

template <class Real>
struct IncidentLine {
    struct Numbers {  // (2, nodes) each
        const Real *stay, *drive, *inverse, *decay, *psi_drive;
    };
    Numbers electric, magnetic;
    long nodes;
    Real *e,
        *h;  // (2, nodes + 1): E of node n in column n, H of half node n + 1/2 in column n + 1; the ends read zeros
    Real *e_psi, *h_psi;  // (2, nodes)
    long entry;           // node from which on the second row is total
    int direction;        // +1 or -1

    // One step; `signal`: E of the first row at the node before the entry. `between()` is called when E is made.
    template <class Between>
    void advance(Real signal, Between between) {
        const long columns = nodes + 1, before = entry - (direction > 0);  // half node
        Real *const total_e = e + columns, *const total_h = h + columns;
        update(e, h + 1, h, electric, e_psi);
        total_e[entry] = entered(total_e[entry], electric, entry, h[before + 1]);
        e[entry - direction] = signal;
        between();
        update(h + 1, e + 1, e, magnetic, h_psi);
        total_h[before + 1] = entered(total_h[before + 1], magnetic, before, e[entry]);
    }

private:
    // `node` of the second row, `value` of the first.
    Real entered(Real field, const Numbers& numbers, long node, Real value) const {
        return cell::entered(field, Real(direction), numbers.drive[nodes + node], numbers.inverse[nodes + node], value);
    }
    void update(Real* f, const Real* upper, const Real* lower, const Numbers& numbers, Real* psi) const {
        for (long row = 0; row < 2; ++row, f += nodes + 1, upper += nodes + 1, lower += nodes + 1)
            for (long n = 0, at = row * nodes; n < nodes; ++n, ++at) {
                const Real d = cell::stretched(upper[n] - lower[n], numbers.inverse[at], numbers.decay[at],
                                               numbers.psi_drive[at], psi[at]);
                f[n] = cell::advance_magnetic(f[n], numbers.stay[at], numbers.drive[at], d, Real(0));
            }
    }
};

}  // namespace nearfield
