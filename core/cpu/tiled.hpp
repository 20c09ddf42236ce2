// The tiled schedule: several steps while the rows are in cache.
//
// A time block advances a region (region.hpp), as a rule the whole block, by `depth` steps. Its rows are cut into bands
// of `width` rows; a band sweeps along the planes, and at sweep position s makes, for every tau of the block, E of row
// (s - tau, j - tau) and H of row (s - tau - 1, j - tau - 1): it leans back by one plane and one row a step, or by two
// where E reads H of the next rows too (`reach`). What a row reads was then made
//   - by the same band at this position or the one before (own plane, own rows),
//   - by the band below at this position (row j - 1),
//   - by the time block before, in this band and those above it as far as `depth` rows, `depth` planes further on.
// So band b of block n waits for band b - 1 of block n, and for a band of block n - 1; there is no barrier between
// blocks. Periodic axes: turns.hpp. Domains share the tiles: each makes the positions, bands and blocks of 16 cells of
// its own, in place, one after the other along a tile, so that nothing is copied or made twice. Steps go in pairs along
// the diagonal, so that a row stays in L1 between the two, and the next plane's record is fetched into L2 meanwhile.
// Traffic: 48 / depth bytes a cell and step in single precision, plus the edges of the tiles.
#pragma once

#include <vector>

#include "time_blocks.hpp"
#include "work.hpp"

namespace nearfield {

template <class Real>
class Tiled {
public:
    explicit Tiled(const Work<Real>& work) : work_(work), blocks_(work.layout, work.seams, work.domains.cuts) {}

    Tiling tiling;  // the caller's

    // Steps [first, last) of the block are to be made.
    void begin(long first, long last);
    // A thread's tiles of them.
    void make(long thread, ExactSum& energy);

private:
    struct Tile {
        const TimeBlock* block;
        long row;     // lowest at the first step
        Blocks part;  // of the domain along c; its ends within the row lean back by one block a step
        ExactSum* energy;
        long thread;
    };
    void make_band(const Stint& stint, std::size_t number, long band, ExactSum& energy, long thread);
    void make_position(const Tile& tile, long s);
    Extent rows_met(const Tile& tile, long s, long first, long last) const;
    Progress& done(long band, long c) { return band_done_[band * work_.domains.cuts.along_c() + c]; }

    Work<Real> work_;
    // Set by `begin`.
    TimeBlocks blocks_;
    std::vector<Progress> band_done_;  // positions that each band of each time block has passed, by domain along c
};

}  // namespace nearfield
