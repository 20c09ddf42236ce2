// What Python hands to an engine, checked.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "engine.hpp"

namespace nearfield {

// The domains of a block, along each storage axis, in cells; the part of it that is not a halo; threads and pages.
using AxisCuts = std::array<std::vector<long>, 3>;
using Own = std::array<std::array<long, 2>, 3>;

inline MemoryPolicy policy(const std::string& name) {
    const std::vector<std::string> names = {"off", "first-touch", "bind", "interleave"};
    const auto found = std::find(names.begin(), names.end(), name);
    if (found == names.end()) throw std::invalid_argument("a memory policy is off, first-touch, bind or interleave");
    return static_cast<MemoryPolicy>(found - names.begin());
}
// The distance of two samples as couplings keep it.
inline std::int32_t narrow(long distance) {
    if (distance != std::int32_t(distance))
        throw std::out_of_range(
            "samples that are coupled lie further apart in memory than 2^31 numbers: planes of so "
            "many cells cannot hold a tensor");
    return std::int32_t(distance);
}
inline Cuts make_cuts(const AxisCuts& cuts, const std::array<long, 3>& shape) {
    for (int axis = 0; axis < 3; ++axis) {
        const auto& c = cuts[axis];
        if (c.size() < 2 || c.front() != 0 || c.back() != shape[axis] ||
            !std::is_sorted(c.begin(), c.end(), std::less_equal<long>()))
            throw std::invalid_argument("cuts rise from 0 to the length of their axis");
    }
    Cuts made{cuts[0], cuts[1], {}};
    for (const long cell : cuts[2]) {
        if (cell % lanes && cell != shape[2]) throw std::invalid_argument("rows are cut at multiples of 16 cells");
        made.blocks.push_back(padded(cell) / lanes);
    }
    return made;
}
inline std::array<Extent, 3> make_own(const Own& own, const std::array<long, 3>& shape) {
    for (int axis = 0; axis < 3; ++axis)
        if (own[axis][0] < 0 || own[axis][1] > shape[axis] || own[axis][0] >= own[axis][1])
            throw std::invalid_argument("a block owns some of its cells");
    if (own[2][0] % lanes) throw std::invalid_argument("a halo along rows has a multiple of 16 cells");
    return {Extent{own[0][0], own[0][1]}, Extent{own[1][0], own[1][1]}, Extent{own[2][0], own[2][1]}};
}
inline Seams make_seams(const std::array<std::array<double, 4>, 3>& seams) {
    Seams made;
    for (int axis = 0; axis < 3; ++axis)
        made[axis] = {seams[axis][0] != 0, seams[axis][1], seams[axis][2], long(seams[axis][3])};
    return made;
}
inline Layout make_layout(std::array<long, 3> shape, std::array<std::array<long, 2>, 3> slabs) {
    for (int axis = 0; axis < 3; ++axis)
        if (shape[axis] < 1 || slabs[axis][0] < 0 || slabs[axis][1] < 0 ||
            slabs[axis][0] + slabs[axis][1] > shape[axis])
            throw std::invalid_argument("a domain needs at least one sample along each axis and slabs that fit in it");
    const auto slab = [&](int axis) { return Slab{slabs[axis][0], slabs[axis][1]}; };
    return Layout{shape[0], shape[1], shape[2], {slab(0), slab(1), slab(2)}};
}
template <class Real>
void check_sample(Engine<Real>& engine, int component, long i, long j, long k) {
    const Layout& l = engine.block().layout;
    const bool inside = i >= 0 && j >= 0 && k >= 0 && i < l.na && j < l.nb && k < l.nc;
    if (component < 0 || component >= 6 * engine.block().parts || !inside)
        throw std::out_of_range("a row operation lies outside the domain");
}

}  // namespace nearfield
