// Extrema that hardly rise above the pass to a higher one, and the extrema that take over what leads to them.
#pragma once

#include <vector>

#include "lattice.hpp"
#include "numbers.hpp"

namespace nearfield::elements {

// Of each extremum, in the order of `extrema`, the label that replaces it: its own among the extrema that stay, or that of
// the region across the pass at which it ends. `stay` are the ranks of those that do.
struct Simplification {
    std::vector<Label> replaced;
    std::vector<long> stay;
};

// Maxima (sign 1) or minima (-1) whose persistence is below `least`. Regions are those of paths of steepest neighbours:
// passes between them are exact for points joined to their 26 neighbours. Higher is (value, index). Error: an extremum and
// the one that replaces it lie more than `reach` periods apart.
template <class T>
Simplification simplified(const Lattice& lattice, const T* field, double sign, const Numbers<Label>& labels,
                          const std::vector<long>& extrema, double least, const Team& team);

// Labels of the team's own points after it. Error: as above.
void replace(const Simplification& simplification, const Numbers<Label>& labels, const Team& team);

}  // namespace nearfield::elements
