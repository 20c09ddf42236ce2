// The Python face of dissipation elements.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <string>

#include "elements/analysis.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using namespace nearfield::elements;

namespace {

template <class T>
using Field = nb::ndarray<const T, nb::ndim<3>, nb::c_contig, nb::device::cpu>;

// A vector of records as an array of `width` numbers of one type each, which `write(record, numbers)` fills.
template <class Number, class Record, class Write>
nb::ndarray<Number, nb::numpy> table(const std::vector<Record>& records, std::size_t width, const Write& write) {
    auto numbers = std::make_unique<Number[]>(records.size() * width);
    for (std::size_t n = 0; n < records.size(); ++n) write(records[n], numbers.get() + n * width);
    Number* const data = numbers.release();
    nb::capsule owner(data, [](void* p) noexcept { delete[] static_cast<Number*>(p); });
    return nb::ndarray<Number, nb::numpy>(data, {records.size(), width}, owner);
}

nb::object labels_of(std::vector<Label>&& labels, const Place& n) {
    auto kept = std::make_unique<std::vector<Label>>(std::move(labels));
    Label* const data = kept->data();
    nb::capsule owner(kept.release(), [](void* p) noexcept { delete static_cast<std::vector<Label>*>(p); });
    return nb::cast(
        nb::ndarray<Label, nb::numpy>(data, {std::size_t(n[0]), std::size_t(n[1]), std::size_t(n[2])}, owner));
}

// Places as distances from the first point.
nb::dict extrema_of(const std::vector<Extremum>& extrema, double unit) {
    nb::dict found;
    found["index"] = table<long>(extrema, 1, [](const Extremum& e, long* to) { *to = e.index; });
    found["place"] = table<double>(extrema, 3, [unit](const Extremum& e, double* to) {
        for (int axis = 0; axis < 3; ++axis) to[axis] = e.place[axis] * unit;
    });
    found["value"] = table<double>(extrema, 1, [](const Extremum& e, double* to) { *to = e.value; });
    return found;
}

// Labels, extrema and elements as a dictionary of arrays.
template <class T>
nb::dict elements(const Field<T>& field, std::array<std::vector<double>, 3> widths, std::array<bool, 3> periodic,
                  const std::string& method, int threads) {
    Lattice lattice{{}, std::move(widths), periodic};
    for (int axis = 0; axis < 3; ++axis) {
        lattice.n[axis] = long(field.shape(axis));
        const long count = long(lattice.widths[axis].size());
        if (count != std::max(1L, lattice.n[axis] - !periodic[axis]))
            throw std::invalid_argument("widths of each axis");
    }
    if (lattice.size() < 1 || lattice.size() >= long(unknown)) throw std::invalid_argument("points a label can number");
    Analysis made;
    {
        const nb::gil_scoped_release release;
        made = analysed(lattice, field.data(), method_of(method), threads);
    }
    nb::dict found;
    found["labels"] = labels_of(std::move(made.labels), lattice.n);
    found["maxima"] = extrema_of(made.maxima, least_width(lattice));
    found["minima"] = extrema_of(made.minima, least_width(lattice));
    found["elements"] = table<long>(made.elements, 6, [](const Element& e, long* to) {
        to[0] = e.maximum, to[1] = e.minimum, to[5] = e.points;
        std::copy_n(e.shift.data(), 3, to + 2);
    });
    found["traced"] = made.traced;
    found["unresolved"] = made.unresolved;
    return found;
}

}  // namespace

void bind_elements(nb::module_& m) {
    m.def("elements", &elements<float>, "field"_a, "widths"_a, "periodic"_a, "method"_a, "threads"_a);
    m.def("elements", &elements<double>, "field"_a, "widths"_a, "periodic"_a, "method"_a, "threads"_a);
}
