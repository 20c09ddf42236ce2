// The copies that close periodic axes.
//
// Row kernels read the row before and the row after at fixed distances. So the ghost row before the first one holds a
// copy of H of the last, and the one past the last a copy of E of the first; along the rows one sample does. A copy is
// made right after its original, in the same thread, hence whoever may read the original finds the copy as it should
// be: every order of rows that respects the true neighbours stays right, and rows that close on themselves (along c)
// cost nothing. Complex fields turn on the way, each copy once from both parts of its original.
//
// A rank's part of a ring is stored from the seam on: what lies beyond it, its neighbour's image, is at the other end
// of the block as it is there, not turned, so that it is made with the same bits. Rows are made from the gap in between
// on.
#pragma once

#include <array>

#include "block.hpp"
#include "region.hpp"
#include "step.hpp"

namespace nearfield {

template <class Real>
class SeamCopies {
public:
    SeamCopies(Block<Real>& block, const Seams& seams)
        : block_(block), seams_(seams), any_(seams[0].closed || seams[1].closed || seams[2].closed) {}

    bool any() const { return any_; }
    // Of the part of row (i, j) that was just made. `reach` 2: E reads H of two rows.
    void carry(int half, long i, long j, const Blocks& part, long reach);
    // Of all rows, or of those alone that are not owned.
    void carry_all(const std::array<Extent, 3>& own, bool halos_only, long reach);

private:
    void carry_in_row(int half, long i, long j, long reach);
    void copy_turned(int component, const std::array<long, 2>& from, const std::array<long, 2>& to, long first,
                     long last, const Seam& seam, double direction);

    Block<Real>& block_;
    const Seams& seams_;
    const bool any_;
};

}  // namespace nearfield
