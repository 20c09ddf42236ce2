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
#include "elements/arcs.hpp"
#include "elements/geometry.hpp"
#include "elements/trajectory.hpp"
#include "filled.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using namespace nearfield::elements;
using nearfield::filled;

namespace {

template <class T>
using Field = nb::ndarray<const T, nb::ndim<3>, nb::c_contig, nb::device::cpu>;

// A vector of records as an array of `width` numbers of one type each, which `write(record, numbers)` fills.
template <class Number, class Record, class Write>
nb::ndarray<Number, nb::numpy> table(const std::vector<Record>& records, std::size_t width, const Write& write) {
    return filled<Number>({records.size(), width}, [&](Number* numbers) {
        for (std::size_t n = 0; n < records.size(); ++n) write(records[n], numbers + n * width);
    });
}

nb::object labels_of(Numbers<Label>&& labels, const Place& n) {
    auto kept = std::make_unique<Numbers<Label>>(std::move(labels));
    Label* const data = kept->data();
    nb::capsule owner(kept.release(), [](void* p) noexcept { delete static_cast<Numbers<Label>*>(p); });
    return nb::cast(
        nb::ndarray<Label, nb::numpy>(data, {std::size_t(n[0]), std::size_t(n[1]), std::size_t(n[2])}, owner));
}

// The team that Python describes: `rows` of this process, `host_rows` that it prepares, threads, the folder of files, and
// two functions that all processes call together; None where there is one process.
Team team_of(const Lattice& lattice, const nb::object& given, int threads) {
    Team team = alone(lattice, threads);
    if (given.is_none()) return team;
    const long row = lattice.n[2];
    const auto [first, last] = nb::cast<std::array<long, 2>>(given.attr("rows"));
    const auto [host_first, host_last] = nb::cast<std::array<long, 2>>(given.attr("host_rows"));
    team.first = first * row, team.last = last * row;
    team.host_first = host_first * row, team.host_last = host_last * row;
    team.folder = nb::cast<std::string>(given.attr("folder"));
    if (nb::cast<bool>(given.attr("alone"))) return team;
    team.gather = [given](const std::string& own) {
        const nb::gil_scoped_acquire held;
        std::vector<std::string> found;
        for (nb::handle part : given.attr("gather")(nb::bytes(own.data(), own.size()))) {
            const nb::bytes bytes = nb::cast<nb::bytes>(part);
            found.emplace_back(bytes.c_str(), bytes.size());
        }
        return found;
    };
    team.share = [given](void* data, std::size_t bytes) {
        const nb::gil_scoped_acquire held;
        given.attr("share")(nb::ndarray<std::uint8_t, nb::numpy>(data, {bytes}, nb::capsule(data)));
    };
    return team;
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

template <class T>
Lattice lattice_of(const Field<T>& field, std::array<std::vector<double>, 3> widths, std::array<bool, 3> periodic) {
    Lattice lattice{{}, std::move(widths), periodic};
    for (int axis = 0; axis < 3; ++axis) {
        lattice.n[axis] = long(field.shape(axis));
        const long count = long(lattice.widths[axis].size());
        if (count != std::max(1L, lattice.n[axis] - !periodic[axis]))
            throw std::invalid_argument("widths of each axis");
    }
    if (lattice.size() < 1 || lattice.size() >= long(unknown)) throw std::invalid_argument("points a label can number");
    return lattice;
}

using Widths = std::array<std::vector<double>, 3>;

// Labels, extrema and elements as a dictionary of arrays.
template <class T>
nb::dict elements(const Field<T>& field, Widths widths, std::array<bool, 3> periodic, const std::string& method,
                  double persistence, int threads, long chunk, const nb::object& given) {
    const Lattice lattice = lattice_of(field, std::move(widths), periodic);
    if (chunk < 1) throw std::invalid_argument("a chunk holds a point or more");
    const Team team = team_of(lattice, given, threads);
    Analysis made;
    {
        const nb::gil_scoped_release release;
        made = analysed(lattice, field.data(), {method_of(method), persistence, chunk}, team);
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
    found["simplified"] = made.simplified;
    return found;
}

// Lines through points, one after the other: places as distances from the first point, of each line its number of places,
// its start among them, the points of its maximum and minimum, and how many of these it did not reach.
template <class T>
nb::dict lines_through(const Field<T>& field, Widths widths, std::array<bool, 3> periodic,
                       const std::vector<long>& points, int threads) {
    const Lattice lattice = lattice_of(field, std::move(widths), periodic);
    for (const long point : points)
        if (point < 0 || point >= lattice.size()) throw std::invalid_argument("points of the field");
    std::vector<Trajectory> lines;
    {
        const nb::gil_scoped_release release;
        lines = trajectories(lattice, field.data(), points, threads);
    }
    const double unit = least_width(lattice);
    std::vector<Point> places;
    std::vector<double> values;
    for (Trajectory& line : lines) {
        places.insert(places.end(), line.places.begin(), line.places.end());
        values.insert(values.end(), line.values.begin(), line.values.end());
    }
    nb::dict found;
    found["place"] = table<double>(places, 3, [unit](const Point& place, double* to) {
        for (int axis = 0; axis < 3; ++axis) to[axis] = place[axis] * unit;
    });
    found["value"] = table<double>(values, 1, [](double value, double* to) { *to = value; });
    found["lines"] = table<long>(lines, 5, [](const Trajectory& line, long* to) {
        to[0] = long(line.places.size()), to[1] = line.start, to[2] = line.maximum, to[3] = line.minimum;
        to[4] = line.unresolved;
    });
    return found;
}

// Values of the cubic interpolant at places, given as distances from the first point.
template <class T>
nb::ndarray<double, nb::numpy> values_at(const Field<T>& field, Widths widths, std::array<bool, 3> periodic,
                                         const nb::ndarray<const double, nb::shape<-1, 3>, nb::c_contig>& places) {
    const Lattice lattice = lattice_of(field, std::move(widths), periodic);
    const double unit = least_width(lattice);
    std::vector<Point> at;
    for (std::size_t m = 0; m < places.shape(0); ++m)
        at.push_back({places(m, 0) / unit, places(m, 1) / unit, places(m, 2) / unit});
    return table<double>(interpolated(lattice, field.data(), at), 1, [](double value, double* to) { *to = value; });
}

using Labels = nb::ndarray<const Label, nb::ndim<3>, nb::c_contig, nb::device::cpu>;

Lattice lattice_of(const Labels& labels, std::array<bool, 3> periodic) {
    return {{long(labels.shape(0)), long(labels.shape(1)), long(labels.shape(2))}, {}, periodic};
}

// Of each element and axis the first and last place of its points.
nb::ndarray<long, nb::numpy> extents_of(const Labels& labels, std::array<bool, 3> periodic, long elements,
                                        int threads) {
    const auto found = extents(lattice_of(labels, periodic), labels.data(), elements, threads);
    return table<long>(found, 6, [](const auto& extent, long* to) {
        for (int n = 0; n < 6; ++n) to[n] = extent[n / 2][n % 2];
    });
}

nb::ndarray<long, nb::numpy> touching_of(const Labels& labels, std::array<bool, 3> periodic, long elements,
                                         int threads) {
    const auto found = touching(lattice_of(labels, periodic), labels.data(), elements, threads);
    return table<long>(found, 1, [](std::uint64_t key, long* to) { *to = long(key); });
}

// Of each element the sum of the lengths of lines and how many there are.
template <class T>
nb::ndarray<double, nb::numpy> arcs_of(const Field<T>& field, Widths widths, std::array<bool, 3> periodic,
                                       const Labels& labels, const std::vector<long>& points, long elements,
                                       int threads) {
    const Lattice lattice = lattice_of(field, std::move(widths), periodic);
    const double unit = least_width(lattice);
    std::vector<Arc> found;
    {
        const nb::gil_scoped_release release;
        found = arcs(lattice, field.data(), labels.data(), points, elements, threads);
    }
    return table<double>(found, 2, [unit](const Arc& arc, double* to) {
        to[0] = double(arc.length) / arcs_a_width * unit, to[1] = double(arc.lines);
    });
}

}  // namespace

void bind_elements(nb::module_& m) {
    const auto bind = [&]<class T>(T) {
        m.def("elements", &elements<T>, "field"_a, "widths"_a, "periodic"_a, "method"_a, "persistence"_a, "threads"_a,
              "chunk"_a, "team"_a.none());
        m.def("arcs", &arcs_of<T>, "field"_a, "widths"_a, "periodic"_a, "labels"_a, "points"_a, "elements"_a,
              "threads"_a);
        m.def("trajectories", &lines_through<T>, "field"_a, "widths"_a, "periodic"_a, "points"_a, "threads"_a);
        m.def("interpolated", &values_at<T>, "field"_a, "widths"_a, "periodic"_a, "places"_a);
    };
    bind(float{}), bind(double{});
    m.def("extents", &extents_of, "labels"_a, "periodic"_a, "elements"_a, "threads"_a);
    m.def("touching", &touching_of, "labels"_a, "periodic"_a, "elements"_a, "threads"_a);
}
