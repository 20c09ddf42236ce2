#include "tiled.hpp"

#include <algorithm>

namespace nearfield {

namespace {
constexpr long on_ring(long n, long length) { return n < length ? n : n - length; }
constexpr long paired = 2;
}  // namespace

// One position of one band: pairs of steps along the diagonal, a segment of the rows after the other, row after row.
// Within a pair each half step leans back by one block along the row, since H reads E one sample further on, and E
// perhaps H.
// Meanwhile the rows that the next position meets first are fetched: the upper ones in the parts of the steps, the
// lowest of each step in those of the rows.
template <class Real>
void Tiled<Real>::make_position(const Tile& tile, long s) {
    RowMaker<Real>& maker = work_.rows;
    const StepBlock& steps = work_.steps;
    const StepRows* const made = steps.rows.data() + tile.block->begun;
    const long blocks = work_.layout.blocks, na = work_.layout.na, nb = work_.layout.nb;
    const long depth = tile.block->depth, width = tiling.width, reach = blocks_.reach();
    const bool lowest = tile.part.first == 0, highest = tile.part.last == blocks, whole = lowest && highest;
    const bool fetches = tiling.fetch;
    const long segment = whole && tiling.segment && !work_.seams[2].closed ? tiling.segment : blocks;
    for (long first = 0; first < depth; first += paired) {
        const long last = std::min(depth, first + paired) - 1;
        const Extent rows = rows_met(tile, s, first, last);
        for (long from = 0; from < blocks && rows.first < rows.last; from += segment)
            for (long r = rows.first; r < rows.last; ++r)
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
                    if (fetches && from == 0) {
                        maker.fetch_row(s + 1, tile.row + r, tau, depth);
                        maker.fetch_row(i + 1, tile.row - lean - 1, r, width);
                    }
                    const Step step = steps.at(tile.block->begun + tau, *tile.energy, tile.thread);
                    if (made[tau].holds(0, i, j))
                        maker.electric(on_ring(i, na), on_ring(j, nb), part(back, lean), step);
                    if (made[tau].holds(1, i - 1, j - 1))
                        maker.magnetic(on_ring(i - 1, na), on_ring(j - 1, nb), part(back + 1, lean + 1), step);
                }
    }
}

// The rows of a band, counted from its lowest, that any of steps [first, last] meets at a position; none where there is
// nothing to make or to fetch.
template <class Real>
Extent Tiled<Real>::rows_met(const Tile& tile, long s, long first, long last) const {
    const StepRows* const made = work_.steps.rows.data() + tile.block->begun;
    const long reach = blocks_.reach();
    long begin = tiling.width, end = 0;
    bool meets = tiling.fetch;
    for (long tau = first; tau <= last; ++tau) {
        begin = std::min(begin, made[tau].meets_b.first + reach * tau - tile.row);
        end = std::max(end, made[tau].meets_b.last + reach * tau - tile.row);
        meets |= made[tau].meets_a.holds(s - reach * tau);
    }
    if (!meets) return {};
    return {std::max(0L, begin), std::min(tiling.width, end)};
}

template <class Real>
void Tiled<Real>::begin(long first, long last) {
    const long along_c = work_.domains.cuts.along_c();
    blocks_.cut(first, last, work_.steps.rows, tiling, work_.rows.reach());
    band_done_ = std::vector<Progress>(blocks_.bands() * along_c);
    for (const TimeBlock& block : blocks_.all())
        for (long band = 0; band < block.bands; ++band)
            for (long c = 0; c < along_c; ++c) done(block.first_id + band, c).raise(block.from);
}

// A domain's part of one band: behind the domains below it along a and c, the band below, and the time block before as
// far as the tile leans. All of them come before it in the order (time block, band, a, c) in which every thread takes
// its tiles, so that some thread can always go on.
template <class Real>
void Tiled<Real>::make_band(const Stint& stint, std::size_t number, long band, ExactSum& energy, long thread) {
    const Cuts& cuts = work_.domains.cuts;
    const std::atomic<bool>& stop = work_.stop;
    const TimeBlock& block = blocks_.all()[number];
    const long along_c = cuts.along_c(), id = block.first_id + band;
    const long chunk =
        std::clamp((block.to - block.from) / 8, 1L, 8L);  // positions between looks at the others' progress
    const Extent own = blocks_.positions_of(block, stint.a);
    // Rows that close on themselves are made whole, by the first domain along them.
    const Blocks part = !work_.seams[2].closed ? Blocks{cuts.blocks[stint.c], cuts.blocks[stint.c + 1]}
                        : stint.c == 0         ? Blocks{0, work_.layout.blocks}
                                               : Blocks{0, 0};
    const Tile tile{&block, block.row + band * tiling.width, part, &energy, thread};
    const TimeBlock* const before = number ? &blocks_.all()[number - 1] : nullptr;
    // A band of the time block before must be ahead.
    const long highest = before && before->bands ? blocks_.band_below(*before, tile.row) : -1;
    if (!done(id, stint.c).reached(own.first, stop)) return;
    for (long from = own.first; from < own.last; from += chunk) {
        const long to = std::min(own.last, from + chunk);
        if (band > 0 && !done(id - 1, stint.c).reached(to, stop)) return;
        if (stint.c > 0 && !done(id, stint.c - 1).reached(to, stop)) return;
        if (highest >= 0) {
            const long ahead = std::min(before->to, to + blocks_.reach() * before->depth);
            if (!done(highest, along_c - 1).reached(ahead, stop)) return;
        }
        for (long s = from; s < to; ++s) make_position(tile, s);
        done(id, stint.c).raise(to);
        if (stop.load(std::memory_order_relaxed)) return;
    }
}

template <class Real>
void Tiled<Real>::make(long thread, ExactSum& energy) {
    for (std::size_t number = 0; number < blocks_.all().size(); ++number) {
        const TimeBlock& block = blocks_.all()[number];
        for (long band = 0; band < block.bands; ++band)
            for (const Stint& stint : work_.domains.stints(thread)) {
                const Extent bands = blocks_.bands_of(block, stint.b);
                if (!bands.holds(band) || (block.turns[stint.b] + band - bands.first) % stint.count != stint.rank)
                    continue;
                make_band(stint, number, band, energy, thread);
                if (work_.stop.load(std::memory_order_relaxed)) return;
            }
    }
}

template class Tiled<float>;
template class Tiled<double>;

}  // namespace nearfield
