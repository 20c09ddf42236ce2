// The wave along an axis: its states belong to Python, its steps are made here.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/array.h>

#include <stdexcept>

#include "incident_line.hpp"
#include "operations.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace {

template <class Real, class Shape>
using In = nb::ndarray<const Real, Shape, nb::c_contig, nb::device::cpu>;
template <class Real, class Shape>
using InOut = nb::ndarray<Real, Shape, nb::c_contig, nb::device::cpu>;

// numbers: (2 half steps, 5, 2 rows, nodes). states: (2 half steps, 2 rows, nodes + 1), psi: (2, 2, nodes). Steps as many as
// `signal` has; those from `skipped` on go to `table` (2, steps, last - first + 2), see nearfield/incident/line.py.
template <class Real>
void march(In<Real, nb::ndim<4>> numbers, InOut<Real, nb::ndim<3>> states, InOut<Real, nb::ndim<3>> psi, In<Real, nb::ndim<1>> signal,
           long skipped, InOut<Real, nb::ndim<3>> table, long entry, int direction, long first, long last) {
    const long nodes = numbers.shape(3), steps = signal.shape(0), width = last - first + 2;
    const long rows[] = {long(numbers.shape(1)) - 5, long(numbers.shape(2)) - 2, long(states.shape(2)) - nodes - 1,
                         long(states.size()) - 4 * (nodes + 1), long(psi.size()) - 4 * nodes, long(table.shape(2)) - width,
                         long(table.shape(1)) - (steps - skipped)};
    for (const long difference : rows)
        if (difference) throw std::invalid_argument("the arrays of an incident line do not fit each other");
    if (first < 0 || last + 1 > nodes || entry < 1 || entry + 1 >= nodes || (direction != 1 && direction != -1))
        throw std::out_of_range("an incident line ends before its box");
    const nearfield::FlushedDenormals flushed;
    const auto part = [&](int half) {
        const Real* const n = numbers.data() + half * 10 * nodes;
        return typename nearfield::IncidentLine<Real>::Numbers{n, n + 2 * nodes, n + 4 * nodes, n + 6 * nodes, n + 8 * nodes};
    };
    Real *const e = states.data(), *const h = e + 2 * (nodes + 1);
    nearfield::IncidentLine<Real> line{part(0), part(1), nodes, e, h, psi.data(), psi.data() + 2 * nodes, entry, direction};
    Real *const of_h = table.data(), *const of_e = of_h + table.shape(1) * width;
    for (long n = 0; n < steps; ++n) {
        const long row = (n - skipped) * width;
        if (n >= skipped) std::copy_n(h + nodes + 1 + first, width, of_h + row);
        line.advance(signal(n), [&] {
            if (n >= skipped) std::copy_n(e + nodes + 1 + first, width - 1, of_e + row);
        });
    }
}

}  // namespace

void bind_incident(nb::module_& m) {
    m.def("march_line", &march<float>);
    m.def("march_line", &march<double>);
}
