// The exact sum of the squares of all own fields after the last step of a block, by which the guard sees divergence.
// Threads gather it in sums of their own; it does not depend on who adds what.
#pragma once

#include <array>
#include <mutex>

#include "block.hpp"
#include "exact_sum.hpp"
#include "region.hpp"
#include "rows.hpp"
#include "team.hpp"

namespace nearfield {

template <class Real>
class Squares {
public:
    // `own`: the part of the block that is not a halo. `along`: the axis of the blocks of 16 cells that squares are
    // summed in, whichever axis rows lie along.
    Squares(Block<Real>& block, const Rows<Real>& rows, const Seams& seams, const std::array<Extent, 3>& own, int along)
        : block_(block), rows_(rows), row_closes_(seams[2].closed), own_(own), along_(along) {}

    void begin(bool wanted) { wanted_ = wanted, sum_ = {}; }
    // Whether rows are added as they are made.
    bool by_rows() const { return wanted_ && along_ == 2; }
    // Of both parts of row (i, j).
    void add_row(long i, long j, ExactSum& sum);
    void collect(const ExactSum& sum);
    // All rows are made, and what they gathered is collected.
    void end(Team& team);
    const ExactSum& sum() const { return sum_; }

private:
    void add_row(int part, long i, long j, ExactSum& sum);
    double own_squares(int part, long i, long j, long block);
    void add_across(long thread, long threads, ExactSum& sum);

    Block<Real>& block_;
    const Rows<Real>& rows_;
    const bool row_closes_;
    const std::array<Extent, 3> own_;
    const int along_;
    bool wanted_ = false;  // set by `begin`
    ExactSum sum_;
    std::mutex mutex_;
};

}  // namespace nearfield
