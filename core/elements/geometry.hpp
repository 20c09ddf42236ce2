// Where elements lie: the boxes around their points, and which of them touch. Labels are read once or twice, in order.
#pragma once

#include <vector>

#include "lattice.hpp"

namespace nearfield::elements {

// Of each element and axis the first and the last place of its points. On a periodic axis an element may lie across the end
// of the box: its places then begin after the longest part of the period without points, and the last is below the first.
std::vector<std::array<std::array<long, 2>, 3>> extents(const Lattice& lattice, const Label* labels, long elements,
                                                        int threads);

// Pairs of elements with points beside each other along an axis, low * elements + high, in order.
std::vector<std::uint64_t> touching(const Lattice& lattice, const Label* labels, long elements, int threads);

}  // namespace nearfield::elements
