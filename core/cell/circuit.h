// A linear circuit with two states x across one edge, implicit in the edge's field (nearfield/plan/plan.py,
// CircuitTerm). Explicitly updated, the edge holds E*; with f E the voltage, v that of the source and C x the states'
// current, then
//     E <- (E* - feedback (admittance (f E_old - v) + C x)) inverse,   x <- A x + B (f (E + E_old) - v).
// In double precision whatever the fields are; Wide is double, or on a GPU what flushes denormals as rows do. The
// caller keeps the state, and gives v: `source_voltage`, or 0 where there is no source.
#pragma once

#include "cell.h"

namespace nearfield::cell {

template <class Wide>
struct CircuitNumbers {
    Wide admittance, voltage_factor, feedback, inverse, drive;
    Wide output[2], input[2], transition[4];
};
template <class Wide>
struct CircuitState {
    Wide x[2], field;  // field: E of the step before
};

template <class Real, class Wide>
NEARFIELD_CELL Wide source_voltage(const CircuitNumbers<Wide>& c, Real amplitude) {
    return c.drive * Wide(amplitude);
}

// The edge's field; `field` is E*, what the update left.
template <class Real, class Wide>
NEARFIELD_CELL Real connected(Real field, Wide v, const CircuitNumbers<Wide>& c, CircuitState<Wide>& state) {
    const Wide memory = c.output[0] * state.x[0] + c.output[1] * state.x[1];
    const Wide known = c.admittance * (c.voltage_factor * state.field - v) + memory;
    const Real value = Real((Wide(field) - c.feedback * known) * c.inverse);
    const Wide across = c.voltage_factor * (Wide(value) + state.field) - v;
    const Wide x0 = (c.transition[0] * state.x[0] + c.transition[1] * state.x[1]) + c.input[0] * across;
    const Wide x1 = (c.transition[2] * state.x[0] + c.transition[3] * state.x[1]) + c.input[1] * across;
    state = {{x0, x1}, Wide(value)};
    return value;
}

}  // namespace nearfield::cell
