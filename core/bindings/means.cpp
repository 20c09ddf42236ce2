// The Python face of means over pieces of space.
#include "means.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <stdexcept>

#include "filled.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using namespace nearfield;

namespace {

using Plane = nb::ndarray<const double, nb::ndim<2>, nb::device::cpu>;
using Lengths = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Numbers = nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Means = nb::ndarray<double, nb::numpy>;

template <bool series>
void along(const Plane& values, int place, const Numbers& start, const Numbers& stop, const Lengths& length,
           double* made) {
    const long groups = long(start.shape(0)), others = long(values.shape(1 - place));
    const long step = values.stride(place), other = values.stride(1 - place);
    if (place == 1) {
        for (long row = 0; row < others; ++row)
            for (long g = 0; g < groups; ++g)
                *made++ = mean_of<series>(values.data() + row * other + start(g) * step, step, length.data() + start(g),
                                          stop(g) - start(g));
        return;
    }
    std::vector<Part> parts;
    for (long g = 0; g < groups; ++g, made += others) {
        parts.clear();
        for (long p = start(g); p < stop(g); ++p) parts.push_back({values.data() + p * step, other, length(p)});
        means_of<series>(parts, others, made);
    }
}

Means mean_along(const Plane& values, int place, const Numbers& start, const Numbers& stop, const Lengths& length,
                 bool series) {
    if (place != 0 && place != 1) throw std::invalid_argument("a plane has the axes 0 and 1");
    const std::size_t groups = start.shape(0), pieces = values.shape(place);
    if (stop.shape(0) != groups || length.shape(0) != pieces)
        throw std::invalid_argument("groups have a start and a stop each, pieces a length");
    for (std::size_t g = 0; g < groups; ++g)
        if (start(g) < 0 || start(g) >= stop(g) || stop(g) > std::int64_t(pieces))
            throw std::out_of_range("a group holds pieces of the plane, one at least");
    const auto shape = place ? std::vector{values.shape(0), groups} : std::vector{groups, values.shape(1)};
    return filled<double>(shape, [&](double* made) {
        series ? along<true>(values, place, start, stop, length, made)
               : along<false>(values, place, start, stop, length, made);
    });
}

Means mean_of_planes(const std::vector<double>& weights, const std::vector<Plane>& planes, bool series) {
    if (planes.empty() || weights.size() != planes.size())
        throw std::invalid_argument("planes have a weight each, and there is one at least");
    const std::size_t rows = planes[0].shape(0), columns = planes[0].shape(1);
    for (const Plane& plane : planes)
        if (plane.shape(0) != rows || plane.shape(1) != columns) throw std::invalid_argument("planes are of one shape");
    return filled<double>({rows, columns}, [&](double* made) {
        std::vector<Part> parts(planes.size());
        for (std::size_t row = 0; row < rows; ++row, made += columns) {
            for (std::size_t p = 0; p < planes.size(); ++p)
                parts[p] = {planes[p].data() + std::int64_t(row) * planes[p].stride(0), planes[p].stride(1),
                            weights[p]};
            series ? means_of<true>(parts, long(columns), made) : means_of<false>(parts, long(columns), made);
        }
    });
}

}  // namespace

void bind_means(nb::module_& m) {
    m.def("mean_along", &mean_along, "values"_a, "place"_a, "start"_a, "stop"_a, "length"_a, "series"_a);
    m.def("mean_of_planes", &mean_of_planes, "weights"_a, "planes"_a, "series"_a);
}
