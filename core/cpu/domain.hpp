// One domain on the CPU: its block, its row operations, its team, and the two schedules:
// stepwise (domain.cpp) and tiled (tiled.cpp).
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "block.hpp"
#include "operations.hpp"
#include "rows.hpp"
#include "team.hpp"

namespace nearfield {

// Time-skewed tiles: `depth` steps while a band of `width` rows a plane stays in cache; depth 0 means stepwise.
struct Tiling {
    long depth = 0, width = 16;
    long segment = 0;   // blocks of 16 cells that a row is updated in at a time; 0: whole rows
    bool fetch = true;  // the domain does not fit the cache: rows are fetched before they are met
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

template <class Real>
class Domain {
public:
    Domain(const Layout& layout, long threads, const std::string& isa);

    Block<Real>& block() { return block_; }
    const std::string& isa() const { return isa_; }
    long threads() const { return threads_; }
    long step() const { return step_; }

    // Row operations run in the order in which they were added, in every row.
    void add(std::unique_ptr<RowOperation<Real>> operation);
    const Rows<Real>& rows() const { return rows_; }

    // Advances by `steps`. With `weigh` the energies of all rows after the last step are left in `row_energy()`.
    // Returns false when `request_stop` cut it short: the fields are then between steps and of no use.
    bool advance(long steps, const Tables<Real>& tables, bool weigh, const std::function<void()>& poll);
    void set_tiling(const Tiling& tiling) { tiling_ = tiling; }
    const Tiling& tiling() const { return tiling_; }
    void request_stop() { stop_.store(true); }
    const std::vector<double>& row_energy() const { return row_energy_; }
    void reset();
    std::vector<StateArray> states();
    std::size_t bytes() const { return block_.bytes() + operation_bytes_; }

private:
    struct Operations {  // of one row at one half step, within lists_, and their strides as bits
        std::uint32_t first = 0, count = 0, strides = 0;
    };
    void partition();
    void first_touch(long thread);
    void sweep(long thread, long steps, const Tables<Real>& tables, bool weigh);
    struct Tile {
        long begun, depth, row;  // steps of the block before it, steps in it, its lowest row
    };
    void tile(long thread, long steps, const Tables<Real>& tables, bool weigh);
    void tile_position(const Tile& tile, long s, const Tables<Real>& tables, long weighed);
    long bands() const { return (block_.layout.nb + tiling_.depth + tiling_.width - 1) / tiling_.width; }
    void fetch_row(long i, long j, long part, long parts) const;
    void electric_row(long i, long j, const Blocks& part, const Step& step, const Tables<Real>& tables);
    void magnetic_row(long i, long j, const Blocks& part, const Step& step, const Tables<Real>& tables, bool weigh);
    void arrange();
    Operations list(const std::vector<RowOperation<Real>*>& wanted);
    void apply(int half, long i, long j, const Blocks& part, const Step& step, const Tables<Real>& tables);
    Blocks whole_row() const { return {0, block_.layout.blocks}; }

    Block<Real> block_;
    std::array<HalfStep<Real>, 2> half_step_{};
    std::string isa_;
    const Rows<Real>& rows_;
    long threads_, step_ = 0;
    std::vector<long> first_plane_;            // of each thread, and one past the last
    std::vector<Progress> electric_done_, magnetic_done_;  // steps of a thread's first E plane, of its last H plane
    Tiling tiling_;
    std::vector<Progress> band_done_;  // planes swept by each band of each time block
    std::atomic<bool> stop_{false};
    std::vector<std::unique_ptr<RowOperation<Real>>> owned_;
    std::vector<RowOperation<Real>*> lists_;       // in the order in which they were added; equal neighbours share one
    std::size_t arranged_ = 0;                     // how many operations the lists know
    std::vector<Operations> operations_[2];        // of each row at each half step; empty where there are none at all
    std::vector<long> strides_;                    // the distinct ones, at most as many as bits; the last bit is always due
    std::vector<std::uint32_t> due_;               // which of them act in each step of the block
    std::vector<double> row_energy_;
    std::size_t operation_bytes_ = 0;
#ifdef NEARFIELD_DEBUG
    std::vector<long> made_[2];  // steps made, per block of 16 cells
    long& made(int half, long i, long j, long n) { return made_[half][block_.layout.row(i, j) * block_.layout.blocks + n]; }
    void count(int half, long i, long j, const Blocks& part);
    void require(int half, long i, long j, Blocks part, long steps, const char* reader);
#endif
};

}  // namespace nearfield
