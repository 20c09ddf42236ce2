// The tiled schedule: several steps while the rows are in cache.
//
// A time block advances the domain by `depth` steps. Its rows are cut into bands of `width` rows; a band sweeps along
// the planes, and at sweep position s makes, for every tau of the block, E of row (s - tau, j - tau) and H of row
// (s - tau - 1, j - tau - 1): it leans back by one plane and one row a step. What a row reads was then made
//   - by the same band at this position or the one before (own plane, own rows),
//   - by the band below at this position (row j - 1),
//   - by the time block before, in this band and those above it as far as `depth` rows, `depth` planes further on.
// So band b of block n waits for band b - 1 of block n, and for a band of block n - 1; there is no barrier between
// blocks. Steps go in pairs along the diagonal, so that a row stays in L1 between the two, and the next plane's
// record is fetched into L2 meanwhile.
// Traffic: 48 / depth bytes a cell and step in single precision, plus the edges of the tiles.

#include "domain.hpp"

namespace nearfield {

namespace {
constexpr long chunk = 8;  // planes between looks at the neighbours' progress
constexpr long paired = 2;
}  // namespace

// Fetches part `part` of `parts` of the record of row (i, j) towards L2.
template <class Real>
void Domain<Real>::prefetch(long i, long j, long part, long parts) const {
    const Layout& l = block_.layout;
    if (i >= l.na || j < 0 || j >= l.nb) return;
    const char* record = reinterpret_cast<const char*>(block_.records.get() + l.record(i, j));
    const long bytes = l.record_length * long(sizeof(Real)), line = 64;
    const long lines = bytes / line;
    for (long n = lines * part / parts; n < lines * (part + 1) / parts; ++n) __builtin_prefetch(record + n * line, 0, 2);
}

// Positions [from, to) of one band: pairs of steps along the diagonal, row after row.
template <class Real>
void Domain<Real>::tile_chunk(const Tile& tile, long from, long to, const Tables<Real>& tables, long weighed) {
    const Layout& l = block_.layout;
    for (long s = from; s < to; ++s)
        for (long first = 0; first < tile.depth; first += paired)
            for (long r = tile.row; r < tile.row + tiling_.width; ++r)
                for (long tau = first; tau < std::min(tile.depth, first + paired); ++tau) {
                    const long i = s - tau, j = r - tau;
                    const Step step{step_ + tile.begun + tau + 1, tile.begun + tau};
                    prefetch(s + 1, r, tau, tile.depth);
                    if (i >= 0 && i < l.na && j >= 0 && j < l.nb) electric_row(i, j, step, tables);
                    if (i >= 1 && i <= l.na && j >= 1 && j <= l.nb)
                        magnetic_row(i - 1, j - 1, step, tables, step.number == weighed);
                }
}

template <class Real>
void Domain<Real>::tile(long thread, long steps, const Tables<Real>& tables, bool weigh) {
    const long bands = this->bands(), planes = block_.layout.na, full = tiling_.depth, width = tiling_.width;
    const long weighed = weigh ? step_ + steps : -1, count = bands * ((steps + full - 1) / full);
    for (long id = thread; id < count; id += threads_) {
        const long block = id / bands, band = id % bands;
        const Tile tile{block * full, std::min(full, steps - block * full), band * width};
        const long before = id - band - bands + std::min(bands - 1, band + (full + width - 1) / width);
        for (long from = 0, end = planes + tile.depth; from < end; from += chunk) {
            const long to = std::min(end, from + chunk);
            if (band > 0 && !band_done_[id - 1].reached(to, stop_)) return;
            if (block > 0 && !band_done_[before].reached(std::min(planes, to) + full, stop_)) return;
            tile_chunk(tile, from, to, tables, weighed);
            band_done_[id].raise(to);
            if (stop_.load(std::memory_order_relaxed)) return;
        }
    }
}

template void Domain<float>::tile(long, long, const Tables<float>&, bool);
template void Domain<double>::tile(long, long, const Tables<double>&, bool);

}  // namespace nearfield
