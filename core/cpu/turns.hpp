// Tiles on periodic axes.
//
// Stepwise, the threads' planes form a ring. Tiles lean back by a row or two a step, and on a ring nothing can lean for
// long: a time block is made in two turns along a closed axis, first a region that shrinks away from the seam, then the
// one that grows from the seam into the room (region.hpp); two closed axes make four. No row is made twice. The turns
// meet when the leans of depth steps have used up half the period, which bounds the depth: rings of few rows are made
// stepwise by preference. A single row, which is its own neighbour, needs no turns.
#pragma once

#include <vector>

#include "region.hpp"

namespace nearfield {

// Whether tiles must make turns along any axis.
inline bool makes_turns(const Layout& layout, const Seams& seams) {
    return seams[0].ring(layout.na) || seams[1].ring(layout.nb);
}

// The regions, in their order, that make a region which is whole along the closed axes, in steps of the block from
// `begin` on.
inline std::vector<Region> turns_of(const Region& region, const Layout& layout, const Seams& seams, long reach,
                                    long begin) {
    const long length[2] = {layout.na, layout.nb};
    std::vector<Region> turns;
    for (int turn = 0; turn < 4; ++turn) {
        Region piece = region;
        bool any = true;
        for (int axis = 0; axis < 2; ++axis) {
            const bool ring = seams[axis].ring(length[axis]), seam = turn >> axis & 1;
            const int lean = int(reach);
            const Side back{length[axis] + lean * begin, -lean}, forward{-lean * begin, lean};
            if (ring && !seam) piece.low[axis] = forward, piece.high[axis] = back;
            if (ring && seam) piece.low[axis] = back, piece.high[axis] = {length[axis] + forward.at, lean};
            any &= ring || !seam;
        }
        if (any) turns.push_back(piece);
    }
    return turns;
}

}  // namespace nearfield
