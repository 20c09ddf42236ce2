// The wave along an axis: its states belong to Python, its steps are made here.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <stdexcept>

#include "incident_line.hpp"
#include "line_poles.hpp"
#include "team.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace {

template <class Real, class Shape>
using In = nb::ndarray<const Real, Shape, nb::c_contig, nb::device::cpu>;
template <class Real, class Shape>
using InOut = nb::ndarray<Real, Shape, nb::c_contig, nb::device::cpu>;

// A dispersive layer: half step, recursions of first and of second order, their numbers, places, (stay, weight) and
// states.
template <class Real>
using Layer = std::tuple<int, long, long, In<Real, nb::ndim<1>>, In<std::int64_t, nb::ndim<1>>, In<Real, nb::ndim<2>>,
                         InOut<Real, nb::ndim<2>>>;

// The layers of a half step on row 1.
template <class Real>
std::vector<nearfield::LinePoles<Real>> poles_of(const std::vector<Layer<Real>>& layers, int half, long nodes) {
    std::vector<nearfield::LinePoles<Real>> found;
    for (const auto& [own, firsts, seconds, numbers, at, cells, states] : layers) {
        const long count = at.shape(0);
        const bool outside =
            std::any_of(at.data(), at.data() + count, [&](std::int64_t n) { return n < 0 || n >= nodes; });
        if (outside || long(numbers.size()) != 2 * firsts + 4 * seconds || long(cells.size()) != 2 * count ||
            long(states.size()) != (firsts + 2 * seconds) * count)
            throw std::invalid_argument("the arrays of a dispersive layer do not fit each other");
        if (own == half)
            found.push_back(
                {count, firsts, seconds, at.data(), numbers.data(), cells.data(), cells.data() + count, states.data()});
    }
    return found;
}

// numbers: (2 half steps, 5, 2 rows, nodes). states: (2 half steps, 2 rows, nodes + 1), psi: (2, 2, nodes). Steps as
// many as `signal` has; those from `skipped` on go to `table` (2, steps, last - first + 2), see
// nearfield/incident/line.py.
template <class Real>
void march(In<Real, nb::ndim<4>> numbers, InOut<Real, nb::ndim<3>> states, InOut<Real, nb::ndim<3>> psi,
           In<Real, nb::ndim<1>> signal, long skipped, InOut<Real, nb::ndim<3>> table, long entry, int direction,
           long first, long last, const std::vector<Layer<Real>>& layers) {
    const long nodes = numbers.shape(3), steps = signal.shape(0), width = last - first + 2;
    const long rows[] = {long(numbers.shape(1)) - 5,
                         long(numbers.shape(2)) - 2,
                         long(states.shape(2)) - nodes - 1,
                         long(states.size()) - 4 * (nodes + 1),
                         long(psi.size()) - 4 * nodes,
                         long(table.shape(2)) - width,
                         long(table.shape(1)) - (steps - skipped)};
    for (const long difference : rows)
        if (difference) throw std::invalid_argument("the arrays of an incident line do not fit each other");
    if (first < 0 || last + 1 > nodes || entry < 1 || entry + 1 >= nodes || (direction != 1 && direction != -1))
        throw std::out_of_range("an incident line ends before its box");
    const nearfield::FlushedDenormals flushed;
    const auto part = [&](int half) {
        const Real* const n = numbers.data() + half * 10 * nodes;
        return typename nearfield::IncidentLine<Real>::Numbers{n, n + 2 * nodes, n + 4 * nodes, n + 6 * nodes,
                                                               n + 8 * nodes};
    };
    Real *const e = states.data(), *const h = e + 2 * (nodes + 1);
    nearfield::IncidentLine<Real> line{part(0), part(1),  nodes, e, h, psi.data(), psi.data() + 2 * nodes,
                                       entry,   direction};
    Real *const of_h = table.data(), *const of_e = of_h + table.shape(1) * width;
    const auto electric = poles_of(layers, 0, nodes), magnetic = poles_of(layers, 1, nodes);
    std::vector<Real> old(nodes);
    const auto remember = [&](const auto& poles, Real* row) {
        if (!poles.empty()) std::copy_n(row, nodes, old.data());
        for (const auto& each : poles) each.apply(row, old.data());
    };
    for (long n = 0; n < steps; ++n) {
        const long row = (n - skipped) * width;
        if (n >= skipped) std::copy_n(h + nodes + 1 + first, width, of_h + row);
        remember(electric, e + nodes + 1);
        line.advance(signal(n), [&] {
            if (n >= skipped) std::copy_n(e + nodes + 1 + first, width - 1, of_e + row);
            remember(magnetic, h + nodes + 2);
        });
    }
}

}  // namespace

void bind_incident(nb::module_& m) {
    m.def("march_line", &march<float>);
    m.def("march_line", &march<double>);
}
