// The ends of lines along the gradient from some points of the grid, and what they say of the points between them.
#pragma once

#include "lines.hpp"
#include "numbers.hpp"

namespace nearfield::elements {

// As `traced`, with lines from few points: those of a coarse lattice first, then level by level those between points whose
// labels differ. Others take the label of the points around them, and lines end in the cells between such. At last lines
// start from all points beside one of another label, until no more are found: so regions that the coarse levels have not
// seen are followed from their extrema on.
template <class T>
Numbers<Label> hybrid(Lines<T>& lines);

}  // namespace nearfield::elements
