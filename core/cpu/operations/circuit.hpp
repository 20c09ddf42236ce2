// A linear circuit with two states across one edge, implicit in the edge's field.
#pragma once

#include "cell/circuit.h"
#include "cpu/operations.hpp"

namespace nearfield {

template <class Real>
struct Circuit final : RowOperation<Real> {
    long k, waveform;  // waveform -1: none
    cell::CircuitNumbers<double> numbers;
    cell::CircuitState<double> state{};
    Circuit(int component, long i, long j, long at, long w, const cell::CircuitNumbers<double>& n)
        : RowOperation<Real>(component, i, j), k(at), waveform(w), numbers(n) {}
    void begin_block(const Real* row, long, long) override { refresh(row); }
    void refresh(const Real* row) override { state.field = double(row[k]); }
    void apply(Real* row, long, const Cells& cells, const Step& step, const Tables<Real>& tables) override {
        if (!cells.hold(k)) return;
        const double v =
            waveform < 0 ? 0.0
                         : cell::source_voltage(numbers, tables.electric[step.in_block * tables.waveforms + waveform]);
        row[k] = cell::connected(row[k], v, numbers, state);
    }
    void reset() override { state = {}; }
};

}  // namespace nearfield
