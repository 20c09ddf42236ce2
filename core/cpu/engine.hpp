// The CPU engine of one process: its block, the domains that it is cut into, its row operations, and the two schedules
// that make rows: stepwise and tiled. A file of its own for each.
#pragma once

#include <array>
#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "block.hpp"
#include "domains.hpp"
#include "operation_lists.hpp"
#include "row_maker.hpp"
#include "rows.hpp"
#include "seams.hpp"
#include "squares.hpp"
#include "states.hpp"
#include "step_block.hpp"
#include "stepwise.hpp"
#include "tiled.hpp"

namespace nearfield {

template <class Real>
class Engine {
public:
    // `own`: the part of the block, along a, b and c, that is not a halo. `weighed_along`: the axis of the blocks of 16
    // cells that energy is summed in, whichever axis rows lie along.
    // `parts` 2: complex fields.
    Engine(const Layout& layout, const Seams& seams, int parts, const Cuts& cuts, const std::array<Extent, 3>& own,
           int weighed_along, long threads, const Placement& placement, const std::string& isa);
    Engine(const Engine&) = delete;
    Engine& operator=(const Engine&) = delete;

    Block<Real>& block() { return block_; }
    const std::string& isa() const { return isa_; }
    const Team& team() const { return domains_.team; }
    const Cuts& cuts() const { return domains_.cuts; }
    const Seams& seams() const { return seams_; }
    const Rows<Real>& rows() const { return rows_; }
    OperationLists<Real>& operations() { return operations_; }
    long step() const { return steps_.made; }

    // A block of steps: begun once, run a region or some steps at a time, and ended when all own rows have made them
    // all. `tables` must live until then. With `weigh` the sum of squares after the last step is in `energy()`.
    void begin(long steps, const Tables<Real>& tables, bool weigh);
    // Steps [first, last) of the block, counted from 0; rows of the region count from the gap of a ring. False when
    // `request_stop` cut it short: the fields are then between steps and of no use. `poll` is called every
    // `milliseconds`.
    bool run(const Region& region, long first, long last, const std::function<void()>& poll, double milliseconds = 100);
    void end();
    // Halos, and the states of circuits in them, were written: they stand after so many steps of the block.
    void refreshed(long steps);

    void set_tiling(const Tiling& tiling) { tiled_.tiling = tiling; }
    const Tiling& tiling() const { return tiled_.tiling; }
    void request_stop() { stop_.store(true); }
    const ExactSum& energy() const { return squares_.sum(); }
    void reset() { resume(0); }
    // As after so many steps; all states are zero, and the caller's to write.
    void resume(long steps);
    std::vector<StateArray> states() { return states_of(block_); }
    std::size_t bytes() const { return block_.bytes() + operations_.bytes(); }
    std::vector<PageCounts> pages(long sample) { return domains_.pages(block_, sample); }  // of each domain

private:
    using Poll = std::function<void()>;
    bool make(long first, long last, const Poll& poll, double milliseconds);
    bool make_in_turns(const Region& region, long first, long last, const Poll& poll, double milliseconds);

    const Seams seams_;
    const std::array<Extent, 3> own_;
    const std::string isa_;
    const Rows<Real>& rows_;
    Block<Real> block_;
    Domains domains_;
    OperationLists<Real> operations_;
    SeamCopies<Real> copies_;
    Squares<Real> squares_;
    RowMaker<Real> maker_;
    StepBlock steps_;
    std::atomic<bool> stop_{false};
    Stepwise<Real> stepwise_;
    Tiled<Real> tiled_;
};

}  // namespace nearfield
