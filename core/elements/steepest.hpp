// The steepest of a point's 26 neighbours upwards and downwards, and the extrema at which such paths end.
#pragma once

#include <atomic>
#include <vector>

#include "lattice.hpp"
#include "numbers.hpp"

namespace nearfield::elements {

// Per point the directions of its steepest ascent and descent, `here` at extrema.
struct Directions {
    Numbers<std::uint8_t> up, down;
};

template <class T>
Directions steepest(const Lattice& lattice, const T* field, const Team& team);

// Indices of the points whose direction is `here`, in order.
std::vector<long> ends(const Numbers<std::uint8_t>& directions, const Team& team);

// Per point the extremum at the end of its path, in a file of this name if in any. Errors: as many extrema as labels cannot
// number, a path that winds around the box more than `reach` times.
Numbers<Label> followed(const Lattice& lattice, const Numbers<std::uint8_t>& directions,
                        const std::vector<long>& extrema, const Team& team, const std::string& name);

}  // namespace nearfield::elements
