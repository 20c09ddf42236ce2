// How long the lines along the gradient are, from minimum to maximum, summed over the points of each element.
#pragma once

#include <vector>

#include "extrema.hpp"
#include "lattice.hpp"

namespace nearfield::elements {

// Lengths are whole multiples of the smallest width over this: their sums are the same in any order.
constexpr double arcs_a_width = 1 << 20;

struct Arc {
    long length = 0, lines = 0;
};

// Of each of `elements`, whose numbers `labels` are: over its points, or those of them that are in `points` if it has any.
// Lines that come to rest beside no extremum are left out. The same bits for any number of threads. Error: as `analysed`.
template <class T>
std::vector<Arc> arcs(const Lattice& lattice, const T* field, const Label* labels, const std::vector<long>& points,
                      long elements, int threads);

}  // namespace nearfield::elements
