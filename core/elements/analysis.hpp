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

struct Options {
    Method method = Method::hybrid;
    double persistence = 0;  // extrema of less than this are left out
    long chunk = 4096;       // points of a brick of lines, whose ends a thread keeps until it has all of them
};

struct Analysis {
    Numbers<Label> labels;  // of each point, its element
    std::vector<Extremum> maxima, minima;
    std::vector<Element> elements;
    long traced = 0;      // paths along the gradient, of at most two a point
    long unresolved = 0;  // of these, the ones that took the end of the path of steepest neighbours
    long simplified = 0;  // extrema left out for their persistence
};

// One process that labels all points in memory.
Team alone(const Lattice& lattice, int threads);

// The same bits for any team and any number of threads. Errors: as many extrema as labels cannot number, or paths that wind around the
// box more than twice.
template <class T>
Analysis analysed(const Lattice& lattice, const T* field, const Options& options, const Team& team);

}  // namespace nearfield::elements
