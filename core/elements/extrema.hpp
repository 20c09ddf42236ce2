// Extrema refined between the points of the grid, and the elements that labels make.
#pragma once

#include <vector>

#include "cells.hpp"
#include "numbers.hpp"

namespace nearfield::elements {

// A maximum or minimum: its point of the grid, its place in units of the smallest width, its value.
struct Extremum {
    long index;
    Point place;
    double value;
};

// One step of Newton's method on the parabola through the 27 points around each; none across the ends of the box.
template <class T>
std::vector<Extremum> refined(const Lattice& lattice, const std::array<Axis<T>, 3>& axes, const T* field,
                              const std::vector<long>& extrema);

// An element: ranks of its maximum and minimum, the image of the maximum as seen from that of the minimum, its points.
struct Element {
    long maximum, minimum;
    Place shift;
    long points;
};

// The elements in the order of maximum, minimum and shift; `up` becomes each point's element, the team's own ones.
std::vector<Element> gathered(const Numbers<Label>& up, const Numbers<Label>& down, const Team& team);

}  // namespace nearfield::elements
