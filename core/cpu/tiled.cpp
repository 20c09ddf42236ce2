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
// blocks. Periodic axes: seams.cpp. Domains share the tiles: each makes the positions, bands and blocks of 16 cells of
// its own, in place, one after the other along a tile, so that nothing is copied or made twice. Steps go in pairs along
// the diagonal, so that a row stays in L1 between the two, and the next plane's record is fetched into L2 meanwhile.
// Traffic: 48 / depth bytes a cell and step in single precision, plus the edges of the tiles.

#include "engine.hpp"
#include "fetch.hpp"

namespace nearfield {

namespace {
constexpr long on_ring(long n, long length) { return n < length ? n : n - length; }
constexpr long paired = 2;
}  // namespace

// Of row (i, j): its record, its psi in the slabs along a and b, what operations keep for it.
template <class Real>
__attribute__((always_inline)) inline void Engine<Real>::fetch_row(long i, long j, long part, long parts) const {
    const Layout& l = block_.layout;
    if (seams_[0].closed) i = on_ring(i, l.na);
    if (seams_[1].closed) j = on_ring(j, l.nb);
    if (i < 0 || i >= l.na || j < 0 || j >= l.nb) return;
    constexpr long size = sizeof(Real);
    const auto fetch_part = [&](int n) __attribute__((always_inline)) {
        fetch(block_.records.get() + n * l.volume_length + l.record(i, j), l.record_length * size, part, parts);
        if (l.slab[0].holds(i, l.na)) fetch(block_.a_psi.get() + n * l.a_psi_length() + l.a_psi(i, j), l.psi_row * size, part, parts);
        if (l.slab[1].holds(j, l.nb)) fetch(block_.b_psi.get() + n * l.b_psi_length() + l.b_psi(i, j), l.psi_row * size, part, parts);
    };
    fetch_part(0);
    if (block_.parts > 1) fetch_part(1);
    for (const auto& of_rows : preceding_) {
        if (of_rows.empty()) continue;
        const Operations& row = groups_[of_rows[l.row(i, j)]];
        for (const Listed *listed = lists_.data() + row.first, *end = listed + row.count; listed != end; ++listed)
            listed->operation->fetch_ahead(listed->number(i, j), part, parts);
    }
}

// One position of one band: pairs of steps along the diagonal, a segment of the rows after the other, row after row.
// Within a pair each half step leans back by one block along the row, since H reads E one sample further on, and E
// perhaps H.
// Meanwhile the rows that the next position meets first are fetched: the upper ones in the parts of the steps, the
// lowest of each step in those of the rows.
template <class Real>
void Engine<Real>::tile_position(const Tile& tile, long s) {
    const long blocks = block_.layout.blocks, depth = tile.block->depth;
    const bool lowest = tile.part.first == 0, highest = tile.part.last == blocks, whole = lowest && highest;
    const long segment = whole && tiling_.segment && !seams_[2].closed ? tiling_.segment : blocks;
    const long na = block_.layout.na, nb = block_.layout.nb;
    const StepRows* const made = step_rows_.data() + tile.block->begun;
    const long reach = reach_;
    for (long first = 0; first < depth; first += paired) {
        const long last = std::min(depth, first + paired) - 1;
        long begin = tiling_.width, end = 0;
        bool meets = tiling_.fetch;
        for (long tau = first; tau <= last; ++tau) {
            begin = std::min(begin, made[tau].meets_b.first + reach * tau - tile.row);
            end = std::max(end, made[tau].meets_b.last + reach * tau - tile.row);
            meets |= made[tau].meets_a.holds(s - reach * tau);
        }
        if (!meets) continue;
        begin = std::max(0L, begin), end = std::min(tiling_.width, end);
        for (long from = 0; from < blocks; from += segment)
            for (long r = begin; r < end; ++r)
                for (long tau = first; tau <= last; ++tau) {
                    const long lean = reach * tau, back = reach * (tau - first);
                    const long i = s - lean, j = tile.row + r - lean;
                    const auto part = [&](long within, long leaned) {
                        if (!whole)
                            return Blocks{lowest ? 0 : std::max(0L, tile.part.first - leaned),
                                          highest ? blocks : std::max(0L, tile.part.last - leaned)};
                        const long to = from + segment;
                        return Blocks{std::max(0L, from - within), to < blocks ? to - within : blocks};
                    };
                    if (tiling_.fetch && from == 0) {
                        fetch_row(s + 1, tile.row + r, tau, depth);
                        fetch_row(i + 1, tile.row - lean - 1, r, tiling_.width);
                    }
                    const Step step = step_at(tile.block->begun + tau, *tile.energy, tile.thread);
                    if (made[tau].holds(0, i, j))
                        electric_row(on_ring(i, na), on_ring(j, nb), part(back, lean), step);
                    if (made[tau].holds(1, i - 1, j - 1))
                        magnetic_row(on_ring(i - 1, na), on_ring(j - 1, nb), part(back + 1, lean + 1), step);
                }
    }
}

// Cuts steps [first, last) into time blocks of equal depth, and each of them into bands.
template <class Real>
void Engine<Real>::cut_time(long first, long last) {
    const long depth = std::min(tiling_.depth, deepest());
    const long blocks = (last - first + depth - 1) / depth, width = tiling_.width;
    time_blocks_.clear();
    std::vector<long> turns(cuts_.along_b());
    long id = 0;
    for (long n = 0; n < blocks; ++n) {
        TimeBlock block{first + (last - first) * n / blocks, 0, 0, 0, 0, 0, id, turns};
        block.depth = first + (last - first) * (n + 1) / blocks - block.begun;
        const StepRows* const made = step_rows_.data() + block.begun;
        Extent rows = made[0].meets_b, positions = made[0].meets_a;
        for (long tau = 1; tau < block.depth; ++tau) {
            const long lean = reach_ * tau;
            rows = {std::min(rows.first, made[tau].meets_b.first + lean), std::max(rows.last, made[tau].meets_b.last + lean)};
            positions = {std::min(positions.first, made[tau].meets_a.first + lean),
                         std::max(positions.last, made[tau].meets_a.last + lean)};
        }
        block.row = rows.first, block.bands = std::max(0L, (rows.last - rows.first + width - 1) / width);
        block.from = positions.first, block.to = std::max(positions.first, positions.last);
        for (long b = 0; b < cuts_.along_b(); ++b) turns[b] += bands_of(block, b).last - bands_of(block, b).first;
        id += block.bands;
        time_blocks_.push_back(std::move(block));
    }
    band_done_ = std::vector<Progress>(id * cuts_.along_c());
    for (const TimeBlock& block : time_blocks_)
        for (long n = 0; n < block.bands * cuts_.along_c(); ++n)
            band_done_[block.first_id * cuts_.along_c() + n].raise(block.from);
}

// What a domain makes of a time block: bands and positions that lie within it half-way through the block's steps.
template <class Real>
Extent Engine<Real>::bands_of(const TimeBlock& block, long b) const {
    const auto cut = [&](long n) {
        if (n == 0 || n == cuts_.along_b()) return n ? block.bands : 0;
        const long rows = past_gap(1, cuts_.rows[n]) + (reach_ * block.depth + tiling_.width) / 2 - block.row;
        return std::clamp(rows / tiling_.width, 0L, block.bands);
    };
    return {cut(b), cut(b + 1)};
}
template <class Real>
Extent Engine<Real>::positions_of(const TimeBlock& block, long a) const {
    const auto cut = [&](long n) {
        if (n == 0 || n == cuts_.along_a()) return n ? block.to : block.from;
        return std::clamp(past_gap(0, cuts_.planes[n]) + reach_ * block.depth / 2, block.from, block.to);
    };
    return {cut(a), cut(a + 1)};
}

// A domain's part of one band: behind the domains below it along a and c, the band below, and the time block before as
// far as the tile leans. All of them come before it in the order (time block, band, a, c) in which every thread takes its
// tiles, so that some thread can always go on.
template <class Real>
void Engine<Real>::tile_band(const Stint& stint, std::size_t number, long band, ExactSum& energy, long thread) {
    const TimeBlock& block = time_blocks_[number];
    const long along_c = cuts_.along_c(), id = block.first_id + band;
    const auto done = [&](long band_id, long c) -> Progress& { return band_done_[band_id * along_c + c]; };
    const long chunk = std::clamp((block.to - block.from) / 8, 1L, 8L);  // positions between looks at the others' progress
    const Extent own = positions_of(block, stint.a);
    // Rows that close on themselves are made whole, by the first domain along them.
    const Blocks part = !seams_[2].closed ? Blocks{cuts_.blocks[stint.c], cuts_.blocks[stint.c + 1]}
                        : stint.c == 0    ? whole_row()
                                          : Blocks{0, 0};
    const Tile tile{&block, block.row + band * tiling_.width, part, &energy, thread};
    const TimeBlock* const before = number ? &time_blocks_[number - 1] : nullptr;
    long highest = -1;  // band of the time block before that must be ahead
    if (before && before->bands) {
        const long rows = tile.row + tiling_.width - 1 + reach_ * before->depth - before->row;
        highest = before->first_id + std::clamp(rows / tiling_.width, 0L, before->bands - 1);
    }
    if (!done(id, stint.c).reached(own.first, stop_)) return;
    for (long from = own.first; from < own.last; from += chunk) {
        const long to = std::min(own.last, from + chunk);
        if (band > 0 && !done(id - 1, stint.c).reached(to, stop_)) return;
        if (stint.c > 0 && !done(id, stint.c - 1).reached(to, stop_)) return;
        if (highest >= 0 && !done(highest, along_c - 1).reached(std::min(before->to, to + reach_ * before->depth), stop_)) return;
        for (long s = from; s < to; ++s) tile_position(tile, s);
        done(id, stint.c).raise(to);
        if (stop_.load(std::memory_order_relaxed)) return;
    }
}

template <class Real>
void Engine<Real>::tile(long thread, ExactSum& energy) {
    for (std::size_t number = 0; number < time_blocks_.size(); ++number) {
        const TimeBlock& block = time_blocks_[number];
        for (long band = 0; band < block.bands; ++band)
            for (const Stint& stint : stints_[thread]) {
                const Extent bands = bands_of(block, stint.b);
                if (!bands.holds(band) || (block.turns[stint.b] + band - bands.first) % stint.count != stint.rank) continue;
                tile_band(stint, number, band, energy, thread);
                if (stop_.load(std::memory_order_relaxed)) return;
            }
    }
}

template void Engine<float>::cut_time(long, long);
template void Engine<double>::cut_time(long, long);
template void Engine<float>::tile(long, ExactSum&);
template void Engine<double>::tile(long, ExactSum&);

}  // namespace nearfield
