// Ends of the lines along the gradient of a smooth interpolant, from the points of the grid.
#pragma once

#include "lines.hpp"
#include "numbers.hpp"

namespace nearfield::elements {

// Between two values of the whole field.
template <class T>
double widest_difference(const T* field, const Team& team);

// The extremum to which the gradient leads from the team's own points; from those whose lines end at none, that to which
// steepest neighbours lead. `cells` are the crossings of the lattice, and learn from which of them no line gets out.
template <class T>
Numbers<Label> traced(Lines<T>& lines, const Numbers<std::uint8_t>& cells);

}  // namespace nearfield::elements
