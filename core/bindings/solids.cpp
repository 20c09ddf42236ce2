// The Python face of solids from files: closed surfaces of triangles.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/unique_ptr.h>

#include <memory>
#include <stdexcept>

#include "filled.hpp"
#include "solids/crossings.hpp"
#include "solids/distance.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using namespace nearfield;

namespace {

using Places = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class Entry>
using Table = nb::ndarray<const Entry, nb::shape<-1, 3>, nb::c_contig, nb::device::cpu>;
template <class Entry>
using Answer = nb::ndarray<Entry, nb::numpy>;

struct Surface {
    Crossings crossings;
    Distance distance;
};

template <class Entry>
std::vector<std::array<Entry, 3>> rows(const Table<Entry>& table) {
    std::vector<std::array<Entry, 3>> made(table.shape(0));
    for (std::size_t n = 0; n < made.size(); ++n) made[n] = {table(n, 0), table(n, 1), table(n, 2)};
    return made;
}

std::unique_ptr<Surface> surface(const Table<double>& corners, const Table<std::int32_t>& triangles,
                                 std::array<bool, 3> closed) {
    const auto points = rows(corners);
    const auto facets = rows(triangles);
    if (facets.empty() || !(closed[1] || closed[2]))
        throw std::invalid_argument("a surface has triangles, and is closed along y or z");
    for (const auto& facet : facets)
        for (const auto corner : facet)
            if (corner < 0 || corner >= long(points.size()))
                throw std::out_of_range("a triangle has a corner that there is not");
    Crossings crossings(points, facets, closed);
    const double unit = crossings.unit();
    return std::unique_ptr<Surface>(new Surface{std::move(crossings), Distance(points, facets, unit)});
}

Coordinates spans(const Places& x, const Places& y, const Places& z) {
    return {std::span(x.data(), x.shape(0)), std::span(y.data(), y.shape(0)), std::span(z.data(), z.shape(0))};
}

template <class Entry, class Ask>
Answer<Entry> answer(const Places& x, const Places& y, const Places& z, bool lattice, const Ask& ask) {
    const Coordinates at = spans(x, y, z);
    const std::size_t nx = at[0].size(), ny = at[1].size(), nz = at[2].size();
    if (!lattice && (nx != ny || ny != nz)) throw std::invalid_argument("points have as many x as y and z");
    return filled<Entry>(lattice ? std::vector{nx, ny, nz} : std::vector{nx}, [&](Entry* values) { ask(at, values); });
}

}  // namespace

// Places are those of a lattice, with answers [x][y][z], or of single points.
void bind_solids(nb::module_& m) {
    nb::class_<Surface>(m, "Surface")
        .def(nb::new_(&surface), "corners"_a, "triangles"_a, "closed"_a)
        .def(
            "inside",
            [](const Surface& s, const Places& x, const Places& y, const Places& z, bool lattice, int threads) {
                return answer<bool>(x, y, z, lattice, [&](const Coordinates& at, bool* values) {
                    lattice ? s.crossings.lattice(at, values, threads) : s.crossings.points(at, values, threads);
                });
            },
            "x"_a, "y"_a, "z"_a, "lattice"_a, "threads"_a)
        .def(
            "distance",
            [](Surface& s, const Places& x, const Places& y, const Places& z, bool lattice, int threads) {
                return answer<double>(x, y, z, lattice, [&](const Coordinates& at, double* values) {
                    lattice ? s.distance.lattice(at, values, threads) : s.distance.points(at, values, threads);
                });
            },
            "x"_a, "y"_a, "z"_a, "lattice"_a, "threads"_a);
}
