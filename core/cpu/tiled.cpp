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
constexpr long paired = 2;
constexpr long line = 64;  // bytes

// Fetches part `part` of `parts` of `bytes` towards L2. Inlined always: GCC takes a function of prefetches alone for one
// without effect, and drops its calls.
__attribute__((always_inline)) inline void fetch(const void* from, long bytes, long part, long parts) {
    const long lines = bytes / line, share = (lines + parts - 1) / parts;
    const char* p = static_cast<const char*>(from);
    for (long n = part * share, end = std::min(lines, n + share); n < end; ++n) __builtin_prefetch(p + n * line, 0, 2);
}
}  // namespace

// Of row (i, j): its record, and its psi in the slabs along a and b.
template <class Real>
__attribute__((always_inline)) inline void Domain<Real>::fetch_row(long i, long j, long part, long parts) const {
    const Layout& l = block_.layout;
    if (i < 0 || i >= l.na || j < 0 || j >= l.nb) return;
    constexpr long size = sizeof(Real);
    fetch(block_.records.get() + l.record(i, j), l.record_length * size, part, parts);
    if (l.slab[0].holds(i, l.na)) fetch(block_.a_psi.get() + l.a_psi(i, j), l.psi_row * size, part, parts);
    if (l.slab[1].holds(j, l.nb)) fetch(block_.b_psi.get() + l.b_psi(i, j), l.psi_row * size, part, parts);
}

// One position of one band: pairs of steps along the diagonal, a segment of the rows after the other, row after row.
// Within a pair each half step leans back by one block along the row, since H reads E one sample further on.
// Meanwhile the rows that the next position meets first are fetched: the upper ones in the parts of the steps, the
// lowest of each step in those of the rows.
template <class Real>
void Domain<Real>::tile_position(const Tile& tile, long s, const Tables<Real>& tables, long weighed) {
    const Layout& l = block_.layout;
    const long segment = tiling_.segment ? tiling_.segment : l.blocks;
    for (long first = 0; first < tile.depth; first += paired) {
        const long last = std::min(tile.depth, first + paired) - 1;
        if (!tiling_.fetch && (s < first || s - last > l.na)) continue;
        const long begin = std::max(0L, first - tile.row), end = std::min(tiling_.width, l.nb + last + 1 - tile.row);
        for (long from = 0; from < l.blocks; from += segment)
            for (long r = begin; r < end; ++r)
                for (long tau = first; tau <= last; ++tau) {
                    const long i = s - tau, j = tile.row + r - tau, lean = tau - first;
                    const Step step{step_ + tile.begun + tau + 1, tile.begun + tau};
                    const auto part = [&](long back) {
                        const long to = from + segment;
                        return Blocks{std::max(0L, from - back), to < l.blocks ? to - back : l.blocks};
                    };
                    if (tiling_.fetch && from == 0) {
                        fetch_row(s + 1, tile.row + r, tau, tile.depth);
                        fetch_row(i + 1, tile.row - tau - 1, r, tiling_.width);
                    }
                    if (i >= 0 && i < l.na && j >= 0 && j < l.nb) electric_row(i, j, part(lean), step, tables);
                    if (i >= 1 && i <= l.na && j >= 1 && j <= l.nb)
                        magnetic_row(i - 1, j - 1, part(lean + 1), step, tables, step.number == weighed);
                }
    }
}

template <class Real>
void Domain<Real>::tile(long thread, long steps, const Tables<Real>& tables, bool weigh) {
    const long bands = this->bands(), planes = block_.layout.na, full = tiling_.depth, width = tiling_.width;
    const long chunk = std::clamp(planes / 8, 1L, 8L);  // positions between looks at the neighbours' progress
    const long weighed = weigh ? step_ + steps : -1, blocks = (steps + full - 1) / full, count = bands * blocks;
    for (long id = thread; id < count; id += threads_) {
        const long block = id / bands, band = id % bands;
        const auto begun = [&](long n) { return steps * n / blocks; };
        const Tile tile{begun(block), begun(block + 1) - begun(block), band * width};
        const long depth_before = begun(block) - begun(block - 1);
        const long before = id - band - bands + std::min(bands - 1, band + (full + width - 1) / width);
        for (long from = 0, end = planes + tile.depth; from < end; from += chunk) {
            const long to = std::min(end, from + chunk);
            if (band > 0 && !band_done_[id - 1].reached(to, stop_)) return;
            if (block > 0 && !band_done_[before].reached(std::min(planes, to) + depth_before, stop_)) return;
            for (long s = from; s < to; ++s) tile_position(tile, s, tables, weighed);
            band_done_[id].raise(to);
            if (stop_.load(std::memory_order_relaxed)) return;
        }
    }
}

template void Domain<float>::tile(long, long, const Tables<float>&, bool);
template void Domain<double>::tile(long, long, const Tables<double>&, bool);

}  // namespace nearfield
