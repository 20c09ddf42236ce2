// The CPU engine of one process: its block, its row operations, its team, and the two schedules: stepwise (engine.cpp)
// and tiled (tiled.cpp), periodic axes (seams.cpp). The block may be cut into domains, each with threads and pages of its
// own (region.hpp).
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "amounts.hpp"
#include "block.hpp"
#include "machine/pages.hpp"
#include "operations.hpp"
#include "region.hpp"
#include "rows.hpp"
#include "team.hpp"

namespace nearfield {

// Time-skewed tiles: `depth` steps while a band of `width` rows a plane stays in cache; depth 0 means stepwise.
struct Tiling {
    long depth = 0, width = 16;
    long segment = 0;   // blocks of 16 cells that a row is updated in at a time; 0: whole rows
    bool fetch = true;  // the block does not fit the cache: rows are fetched before they are met
};

struct Blocks {  // [first, last) of a row
    long first, last;
    Cells cells() const { return {lanes * first, lanes * last}; }
};

struct StateArray {  // an entry of the registry: what a checkpoint, a halo or a copy must know
    std::string name;
    int half;  // 0: advances with E, 1: with H
    std::vector<long> shape, stride;  // in elements
    void* data;
};

// Where threads and pages go.
struct Placement {
    std::vector<Processors> processors;  // of each thread; none: it is not bound
    MemoryPolicy memory = MemoryPolicy::first_touch;
    std::vector<std::vector<int>> nodes;  // of each domain, for `bind` and `interleave`
};

template <class Real>
class Engine {
public:
    // `own`: the part of the block, along a, b and c, that is not a halo. `weighed_along`: the axis of the blocks of 16
    // cells that energy is summed in, whichever axis rows lie along.
    // `parts` 2: complex fields.
    Engine(const Layout& layout, const Seams& seams, int parts, const Cuts& cuts, const std::array<Extent, 3>& own,
           int weighed_along, long threads, const Placement& placement, const std::string& isa);

    Block<Real>& block() { return block_; }
    const std::string& isa() const { return isa_; }
    const Team& team() const { return team_; }
    const Cuts& cuts() const { return cuts_; }
    const Seams& seams() const { return seams_; }
    // Rows by which tiles and sides of regions lean a step.
    long reach() const { return reach_; }
    long step() const { return step_; }

    // Row operations run in the order in which they were added, in every row.
    void add(std::unique_ptr<RowOperation<Real>> operation);
    const Rows<Real>& rows() const { return rows_; }

    // A block of steps: begun once, run a region or some steps at a time, and ended when all own rows have made them all.
    // `tables` must live until then. With `weigh` the sum of squares after the last step is in `energy()`.
    void begin(long steps, const Tables<Real>& tables, bool weigh);
    // Steps [first, last) of the block, counted from 0; rows of the region count from the gap of a ring. False when `request_stop` cut it short: the fields are then
    // between steps and of no use. `poll` is called every `milliseconds`.
    bool run(const Region& region, long first, long last, const std::function<void()>& poll, double milliseconds = 100);
    void end();
    // Halos, and the states of circuits in them, were written: they stand after so many steps of the block.
    void refreshed(long steps);

    void set_tiling(const Tiling& tiling) { tiling_ = tiling; }
    const Tiling& tiling() const { return tiling_; }
    void request_stop() { stop_.store(true); }
    const ExactSum& energy() const { return energy_; }
    void reset();
    // As after so many steps; all states are zero, and the caller's to write.
    void resume(long steps);
    std::vector<StateArray> states();
    std::size_t bytes() const { return block_.bytes() + operation_bytes_; }
    std::vector<PageCounts> pages(long sample);  // of each domain

private:
    struct Listed {  // an operation; where its component begins, from a row's record on; how its span counts rows
        RowOperation<Real>* operation;
        long component, rows, first;
        long number(long i, long j) const { return i * rows + j - first; }
    };
    struct Operations {  // of one row at one half step, within lists_, and their strides as bits
        std::uint32_t first = 0, count = 0, strides = 0;
    };
    struct TimeBlock {  // steps [begun, begun + depth) of a run, and the tiles that make them
        long begun, depth;
        long row, bands;  // lowest row of band 0 at the first step; bands
        long from, to;    // positions of the sweep
        long first_id;    // of band 0, among the bands of all time blocks
        std::vector<long> turns;  // bands that each domain along b had before
    };
    struct Tile {
        const TimeBlock* block;
        long row;  // lowest at the first step
        Blocks part;      // of the domain along c; its ends within the row lean back by one block a step
        ExactSum* energy;
        long thread;
    };

    bool make(long first, long last, const std::function<void()>& poll, double milliseconds);
    bool make_in_turns(const Region& region, long first, long last, const std::function<void()>& poll, double milliseconds);
    void set_rows(const Region& region, long first, long last);
    long deepest() const;
    long length(int axis) const { return axis ? block_.layout.nb : block_.layout.na; }
    // Whether tiles must make turns along an axis. A single row is its own neighbour, and as such never late.
    bool ring(int axis) const { return seams_[axis].closed && seams_[axis].gap < 0 && length(axis) > 1; }
    // A row counted from the gap on, where there is one.
    long past_gap(int axis, long row) const { return row < seams_[axis].gap ? row + length(axis) : row; }
    void carry(int half, long i, long j, const Blocks& part);
    void copy_turned(int component, const long* from, const long* to, const Blocks& part, const Seam& seam, double direction);
    void carry_in_row(int half, long i, long j);
    void carry_all(bool halos_only);
    void share();
    void partition();
    void partition(const Extent& planes, long threads);
    void clear();
    void clear(const Stint& stint);
    void sweep(long thread, long first, long last, ExactSum& energy);
    void cut_time(long first, long last);
    void tile(long thread, ExactSum& energy);
    void tile_band(const Stint& stint, std::size_t number, long band, ExactSum& energy, long thread);
    void tile_position(const Tile& tile, long s);
    Extent bands_of(const TimeBlock& block, long b) const;
    Extent positions_of(const TimeBlock& block, long a) const;
    void fetch_row(long i, long j, long part, long parts) const;
    void electric_row(long i, long j, const Blocks& part, const Step& step);
    void magnetic_row(long i, long j, const Blocks& part, const Step& step);
    void weigh_row(int part, long i, long j, ExactSum& energy);
    double own_squares(int part, long i, long j, long block);
    void weigh_across(long thread, ExactSum& energy);
    using Listing = std::vector<RowOperation<Real>*>;
    void arrange();
    void take_singles(int half, std::vector<Listing>& of_row);
    void set_amounts(long steps);
    const Real* amounts(int half, long i, long j, const Step& step) {
        return heard_[half] ? heard_[half]->amounts(i, j, step) : amounts_[half].of_step(step.in_block);
    }
    Operations list(const Listing& wanted);
    void apply(const std::vector<std::uint32_t>& of_rows, long i, long j, const Blocks& part, const Step& step);
    Blocks whole_row() const { return {0, block_.layout.blocks}; }
    Step step_at(long in_block, ExactSum& energy, long thread) const {
        const bool weighed = weigh_ && weighed_along_ == 2 && in_block == steps_ - 1;
        return {step_ + in_block + 1, in_block, weighed ? &energy : nullptr, thread};
    }

    Block<Real> block_;
    Seams seams_;
    bool any_seam_;
    Cuts cuts_;
    std::array<Extent, 3> own_;
    int weighed_along_;
    Placement placement_;
    std::string isa_;
    const Rows<Real>& rows_;
    std::array<std::array<HalfStep<Real>, 2>, 2> half_step_{};  // by half and part
    typename Rows<Real>::Update update_[2] = {};                // of a row of the (real) part, by half
    Team team_;
    std::vector<std::vector<Stint>> stints_;               // of each thread
    std::vector<long> first_plane_;                        // of each thread when stepwise, and one past the last
    std::vector<Progress> electric_done_, magnetic_done_;  // steps of a thread's first E plane, of its last H plane
    std::vector<Progress> electric_last_, magnetic_first_;  // of its last E plane, of its first H plane, where E reaches two
    Tiling tiling_;
    std::vector<TimeBlock> time_blocks_;
    std::vector<StepRows> step_rows_;  // of every step of the block; those of the run are set
    std::vector<Progress> band_done_;  // positions that each band of each time block has passed, by domain along c
    std::atomic<bool> stop_{false};

    long step_ = 0, steps_ = 0;  // made, and of the block under way
    Tables<Real> tables_;
    bool weigh_ = false, touched_ = false;
    ExactSum energy_;
    std::mutex energy_mutex_;

    std::vector<std::unique_ptr<RowOperation<Real>>> owned_;
    std::vector<Listed> lists_;               // in the order in which they were added
    std::vector<Operations> groups_;          // of rows; those with the same operations share one, the first has none
    long reach_ = 1;            // the farthest of an operation
    std::size_t arranged_ = 0;                // how many operations the lists know
    // The group of each row at each half step, after the update and before it; empty where there are none at all.
    std::vector<std::uint32_t> operations_[2], preceding_[2];
    std::vector<long> strides_;               // the distinct ones, at most as many as bits; the last bit is always due
    std::vector<std::uint32_t> due_;          // which of them act in each step of the block
    static constexpr std::size_t always = 31;  // the bit of strides that found no bit of their own
    std::array<Amounts<Real>, 2> amounts_;     // of each half step
    std::array<Incident<Real>*, 2> windowed_{}, heard_{};  // the wave whose windows rows' programs take from; if it is not silent
    std::size_t operation_bytes_ = 0;
#ifdef NEARFIELD_DEBUG
    std::vector<long> made_[2];  // steps made, per block of 16 cells
    long& made(int half, long i, long j, long n) { return made_[half][block_.layout.row(i, j) * block_.layout.blocks + n]; }
    void count(int half, long i, long j, const Blocks& part);
    void require(int half, long i, long j, Blocks part, long steps, const char* reader);
#endif
};

}  // namespace nearfield
