// Dissipation elements of a scalar field: all points whose paths along the gradient end at the same maximum and minimum.
#pragma once

#include <string>
#include <vector>

#include "extrema.hpp"
#include "lattice.hpp"

namespace nearfield::elements {

// Paths from neighbour to steepest neighbour; along the gradient of a smooth interpolant; or the latter only near points
// at which the former part.
enum class Method { discrete, trace, hybrid };

Method method_of(const std::string& name);

struct Analysis {
    std::vector<Label> labels;  // of each point, its element
    std::vector<Extremum> maxima, minima;
    std::vector<Element> elements;
    long traced = 0;      // paths along the gradient, of at most two a point
    long unresolved = 0;  // of these, the ones that took the end of the path of steepest neighbours
};

// The same bits for any number of threads. Errors: as many extrema as labels cannot number, or paths that wind around the
// box more than twice.
template <class T>
Analysis analysed(const Lattice& lattice, const T* field, Method method, int threads);

}  // namespace nearfield::elements
