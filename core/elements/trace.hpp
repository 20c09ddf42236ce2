// Ends of the lines along the gradient of a smooth interpolant, from the points of the grid.
#pragma once

#include <vector>

#include "extrema.hpp"
#include "lattice.hpp"
#include "numbers.hpp"

namespace nearfield::elements {

struct Counts {
    long traced = 0, unresolved = 0;
};

// Of which points lines are followed: `all`, or those near which labels differ, until no more do; and of how many a thread
// keeps the ends before it writes them to their places.
struct Effort {
    bool all;
    long chunk;
};

// Between two values of the whole field.
template <class T>
double widest_difference(const T* field, const Team& team);

// The extremum to which the gradient leads from the team's own points. `labels` are the ends of the paths of steepest
// neighbours, upwards (sign 1) or downwards (-1); no two values differ by more than `widest`;
// `cells` are the crossings of the lattice, and learn from which of them no line gets out.
template <class T>
Numbers<Label> traced(const Lattice& lattice, const std::array<Axis<T>, 3>& axes, const T* field, double sign,
                      double widest, const Numbers<Label>& labels, const std::vector<Extremum>& extrema,
                      const Numbers<std::uint8_t>& cells, const Effort& effort, const Team& team, Counts& counts);

}  // namespace nearfield::elements
