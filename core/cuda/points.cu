// What acts on single samples right after their update, in the order of the plan: currents (cell/current.h), circuits
// (cell/circuit.h), and products of weighted sums (cell/functional.h), which the host adds up in the order of the sum.
// A thread makes one sample with its whole list. Traffic: some 30 to 200 bytes a sample, of few samples.
#include "cell/current.h"
#include "cell/functional.h"
#include "stored.h"

namespace nearfield::cuda {

template <class Real>
NEARFIELD_CELL void act(const Points<Real>& p, const Action& action, Real& value) {
    const Now now = *p.now;
    const Real* const amplitudes = p.table + now.in_block * p.waveforms;
    if (action.act == Act::current) {
        const Current<Real> current = p.currents[action.number];
        value = cell::driven(value, current.weight, amplitudes[current.column]);
    } else if (action.act == Act::circuit) {
        const int column = p.circuit_columns[action.number];
        const cell::CircuitNumbers<Wide> circuit = p.circuits[action.number];
        const Wide v = column < 0 ? Wide(0.0) : cell::source_voltage(circuit, amplitudes[column]);
        value = cell::connected(value, v, circuit, p.states[action.number]);
    } else {
        const Product product = p.products[action.number];
        const Products sum = p.functionals[product.functional];
        if (now.step % sum.stride) return;
        const long number = now.step / sum.stride - now.before / sum.stride - 1;
        sum.values[number * sum.terms + product.place] = cell::weighed(product.weight, value);
    }
}

// Circuits of a sample know its field of the step before as it lies in memory, whatever they left there.
template <class Real>
NEARFIELD_CELL void remember_field(const Points<Real>& p, const Touched& touched, Wide field) {
    for (unsigned n = touched.first; n < touched.last; ++n)
        if (p.actions[n].act == Act::circuit) p.states[p.actions[n].number].field = field;
}

template <class Real, class Stored>
NEARFIELD_CELL void act_on_points(const Points<Real>& p) {
    last_phase([&](int thread) {
        const int number = block_number() * threads_of_block + thread;
        if (number >= p.count) return;
        const Touched touched = p.samples[number];
        Stored* const at = stored<Stored>(p.records) + touched.at;
        Real value = sample(at, p.scale);
        for (unsigned n = touched.first; n < touched.last; ++n) act(p, p.actions[n], value);
        put_sample(at, value, p.scale);
        if constexpr (sizeof(Stored) < sizeof(Real)) remember_field(p, touched, Wide(sample(at, p.scale)));
    });
}

// Before the first step of a block: circuits take their edge's field as it stands, perhaps written by the user.
template <class Real, class Stored>
NEARFIELD_CELL void remember(const Points<Real>& p) {
    last_phase([&](int thread) {
        const int number = block_number() * threads_of_block + thread;
        if (number >= p.count) return;
        const Touched touched = p.samples[number];
        remember_field(p, touched, Wide(sample(stored<Stored>(p.records) + touched.at, p.scale)));
    });
}

#define POINTS(Real, Stored, a) act_on_points<Real, Stored>(a)
#define REMEMBER(Real, Stored, a) remember<Real, Stored>(a)
NEARFIELD_FIELD_KERNEL(points, Points, 0, POINTS)
NEARFIELD_FIELD_KERNEL(remember_points, Points, 0, REMEMBER)

}  // namespace nearfield::cuda
