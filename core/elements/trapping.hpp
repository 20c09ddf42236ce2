// Cells that lines along the gradient cannot leave: a trapping region around each extremum. Lines end where they enter it.
#pragma once

#include <vector>

#include "cells.hpp"
#include "kernels.hpp"
#include "numbers.hpp"

namespace nearfield::elements {

// The faces, for lines of both directions. The gradient's part across a face is a polynomial of degree three along both of
// its edges, which lies between the least and the largest of its Bernstein coefficients.
template <class T>
Numbers<std::uint8_t> crossings(const Lattice& lattice, const std::array<Axis<T>, 3>& axes, const T* field,
                                const Team& team);

// Whether a cell begins at a point and all its corners belong to one extremum.
bool is_whole(const Lattice& lattice, const Label* labels, const Place& at, long index);

// Leaves `trapped`, of whole cells, the most from which lines upwards (sign 1) or downwards (-1) can only cross into others
// of them, or that lie above the threshold of their extremum. So lines from there end at it.
template <class T>
void trap(const Lattice& lattice, const T* field, double sign, const Numbers<Label>& labels,
          const std::vector<double>& thresholds, const Team& team, const Numbers<std::uint8_t>& cells);

}  // namespace nearfield::elements
