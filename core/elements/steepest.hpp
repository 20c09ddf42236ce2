// The steepest of a point's 26 neighbours upwards and downwards, and the extrema at which such paths end.
#pragma once

#include <atomic>
#include <vector>

#include "lattice.hpp"

namespace nearfield::elements {

// Per point the directions of its steepest ascent and descent, `here` at extrema.
struct Directions {
    std::vector<std::uint8_t> up, down;
};

template <class T>
Directions steepest(const Lattice& lattice, const T* field, int threads);

// Indices of the points whose direction is `here`, in order.
std::vector<long> ends(const Lattice& lattice, const std::vector<std::uint8_t>& directions, int threads);

// Per point the extremum at the end of its path. False where a path winds around the box more than `reach` times.
bool follow(const Lattice& lattice, const std::vector<std::uint8_t>& directions, const std::vector<long>& extrema,
            std::vector<Label>& labels, int threads);

}  // namespace nearfield::elements
