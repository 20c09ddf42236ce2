// Ends of the lines along the gradient of a smooth interpolant, from the points of the grid.
#pragma once

#include <vector>

#include "extrema.hpp"
#include "lattice.hpp"

namespace nearfield::elements {

struct Counts {
    long traced = 0, unresolved = 0;
};

// The extremum to which the gradient leads from every point (`all`), or from those near which `labels` differ, until no
// more do. `labels` are the ends of the paths of steepest neighbours, upwards (sign 1) or downwards (-1).
template <class T>
std::vector<Label> traced(const Lattice& lattice, const T* field, double sign, const std::vector<Label>& labels,
                          const std::vector<Extremum>& extrema, bool all, int threads, Counts& counts);

}  // namespace nearfield::elements
