// Ends of the lines along the gradient of a smooth interpolant, from the points of the grid.
#pragma once

#include <vector>

#include "extrema.hpp"
#include "lattice.hpp"

namespace nearfield::elements {

struct Counts {
    long traced = 0, unresolved = 0;
};

// Of which points lines are followed (`all`, or those near which labels differ, until no more do), and how.
struct Effort {
    bool all;
    int threads;
};

// The extremum to which the gradient leads. `labels` are the ends of the paths of steepest neighbours, upwards (sign 1) or
// downwards (-1).
template <class T>
std::vector<Label> traced(const Lattice& lattice, const std::array<Axis<T>, 3>& axes, const T* field, double sign,
                          const std::vector<Label>& labels, const std::vector<Extremum>& extrema, const Effort& effort,
                          Counts& counts);

}  // namespace nearfield::elements
