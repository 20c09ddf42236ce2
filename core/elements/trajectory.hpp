// Lines along the gradient through points of the grid, place by place, from a minimum to a maximum; and other fields there.
#pragma once

#include <vector>

#include "extrema.hpp"
#include "lattice.hpp"

namespace nearfield::elements {

struct Trajectory {
    std::vector<Point>
        places;  // from the minimum to the maximum, in units of the smallest width, not folded into the box
    std::vector<double> values;
    long start = 0;                   // the place that is the point of the grid
    long maximum = -1, minimum = -1;  // their points of the grid
    int unresolved = 0;  // ends that came to rest beside none, and took that of steepest neighbours from there
};

// Through these points, in their order; the same bits for any number of threads. Steps are half the smallest width or less.
// Error: as `analysed`.
template <class T>
std::vector<Trajectory> trajectories(const Lattice& lattice, const T* field, const std::vector<long>& points,
                                     int threads);

// Values of the cubic interpolant at places, which are folded into the box on periodic axes and else lie in it.
template <class T>
std::vector<double> interpolated(const Lattice& lattice, const T* field, const std::vector<Point>& places);

}  // namespace nearfield::elements
