// Periodic axes: the first sample of a closed axis is the neighbour of the last.
//
// Row kernels read the row before and the row after at fixed distances. So the ghost row before the first one holds a copy
// of H of the last, and the one past the last a copy of E of the first; along the rows one sample does. A copy is made
// right after its original, in the same thread, hence whoever may read the original finds the copy as it should be: every
// order of rows that respects the true neighbours stays right, and rows that close on themselves (along c) cost nothing.
// Complex fields turn on the way, each copy once from both parts of its original.
//
// A rank's part of a ring is stored from the seam on: what lies beyond it, its neighbour's image, is at the other end of
// the block as it is there, not turned, so that it is made with the same bits. Rows are made from the gap in between on.
//
// Stepwise, the threads' planes form a ring. Tiles lean back by a row or two a step, and on a ring nothing can lean for long:
// a time block is made in two turns along a closed axis, first a region that shrinks away from the seam, then the one that
// grows from the seam into the room (region.hpp); two closed axes make four. No row is made twice. The turns meet when
// the leans of depth steps have used up half the period, which bounds the depth: rings of few rows are made stepwise by preference. A
// single row, which is its own neighbour, needs no turns.

#include <chrono>

#include "engine.hpp"

namespace nearfield {

// The copies of the part of row (i, j) that was just made. Where E reaches two rows, H goes both ways, whole and round
// corners: along c first, then a, then b.
template <class Real>
void Engine<Real>::carry(int half, long i, long j, const Blocks& part) {
    const bool far = half && reach_ > 1;
    if (seams_[2].closed) carry_in_row(half, i, j);
    std::array<std::array<long, 2>, 9> rows{{{i, j}}};  // the original and its copies
    std::size_t count = 1;
    for (int axis = 0; axis < 2; ++axis) {
        if (!seams_[axis].closed) continue;
        const long last = length(axis) - 1, at = axis ? j : i;
        const auto copy = [&](std::size_t n, long to, double direction) {
            auto& row = rows[count++] = rows[n];
            row[axis] = to;
            for (int c = 0; c < 3; ++c)
                if (far || c != axis) copy_turned(3 * half + c, rows[n].data(), row.data(), part, seams_[axis], direction);
        };
        for (std::size_t n = 0, known = far ? count : 1; n < known; ++n) {
            if (half && at == last) copy(n, -1, 1);
            if ((far || !half) && at == 0) copy(n, last + 1, -1);
        }
    }
}

// F <- F (cosine + direction j sine) on the way, if it is complex.
template <class Real>
void Engine<Real>::copy_turned(int component, const long* from, const long* to, const Blocks& part, const Seam& seam,
                               double direction) {
    const long ends = reach_ > 1 && seams_[2].closed;  // rows have copies at their ends, too
    const long first = lanes * part.first - ends, last = std::min(lanes * part.last, block_.layout.nc) + ends;
    const Real* const re = block_.field(component, from[0], from[1]);
    Real* const to_re = block_.field(component, to[0], to[1]);
    if (block_.parts == 1) {
        std::copy(re + first, re + last, to_re + first);
        return;
    }
    const Real cosine = Real(seam.cosine), sine = Real(direction * seam.sine);
    const Real* const im = block_.field(component + 6, from[0], from[1]);
    Real* const to_im = block_.field(component + 6, to[0], to[1]);
    for (long k = first; k < last; ++k) {
        to_re[k] = cosine * re[k] - sine * im[k];
        to_im[k] = cosine * im[k] + sine * re[k];
    }
}

template <class Real>
void Engine<Real>::carry_in_row(int half, long i, long j) {
    const bool far = half && reach_ > 1;
    const long last = block_.layout.nc - 1;
    const Real cosine = Real(seams_[2].cosine);
    const auto copy = [&](long from, long to, double direction) {
        const Real sine = Real(direction * seams_[2].sine);
        for (int c = 0; c < (far ? 3 : 2); ++c) {
            Real* const re = block_.field(3 * half + c, i, j);
            if (block_.parts == 1) {
                re[to] = re[from];
                continue;
            }
            Real* const im = re + block_.layout.volume_length;
            re[to] = cosine * re[from] - sine * im[from];
            im[to] = cosine * im[from] + sine * re[from];
        }
    };
    if (half) copy(last, -1, 1);
    if (far || !half) copy(0, last + 1, -1);
}

template <class Real>
void Engine<Real>::carry_all(bool halos_only) {
    const FlushedDenormals flushed;
    halos_only &= seams_[2].gap < 0;  // else every row has a halo
    for (long i = 0; i < block_.layout.na; ++i)
        for (long j = 0; j < block_.layout.nb; ++j) {
            if (halos_only && own_[0].holds(i) && own_[1].holds(j)) continue;
            for (int half = 0; half < 2; ++half) carry(half, i, j, whole_row());
        }
}

// Steps that a time block may have before the turns along a closed axis meet.
template <class Real>
long Engine<Real>::deepest() const {
    long most = std::max<long>(1, tiling_.depth);
    for (int axis = 0; axis < 2; ++axis)
        if (ring(axis)) most = std::min(most, (length(axis) + reach_) / (2 * reach_));
    return most;
}

// Steps [first, last) of a region that is whole along the closed axes, time block after time block.
template <class Real>
bool Engine<Real>::make_in_turns(const Region& region, long first, long last, const std::function<void()>& poll,
                                 double milliseconds) {
    using Clock = std::chrono::steady_clock;
    const auto pause = std::chrono::duration<double, std::milli>(milliseconds);
    auto polled = Clock::now();
    const long depth = deepest(), blocks = (last - first + depth - 1) / depth;
    for (long n = 0; n < blocks; ++n) {
        const long begin = first + (last - first) * n / blocks, end = first + (last - first) * (n + 1) / blocks;
        for (int turn = 0; turn < 4; ++turn) {
            Region piece = region;
            bool any = true;
            for (int axis = 0; axis < 2; ++axis) {
                const bool seam = turn >> axis & 1;
                const int lean = int(reach_);
                const Side back{length(axis) + lean * begin, -lean}, forward{-lean * begin, lean};
                if (ring(axis) && !seam) piece.low[axis] = forward, piece.high[axis] = back;
                if (ring(axis) && seam) piece.low[axis] = back, piece.high[axis] = {length(axis) + forward.at, lean};
                any &= ring(axis) || !seam;
            }
            if (!any) continue;
            set_rows(piece, begin, end);
            if (!make(begin, end, poll, milliseconds)) return false;
            if (Clock::now() - polled < pause) continue;
            poll();
            polled = Clock::now();
        }
    }
    return !stop_.load();
}

#define NEARFIELD_INSTANTIATE(Real)                                                                              \
    template void Engine<Real>::carry(int, long, long, const Blocks&);                                           \
    template void Engine<Real>::carry_all(bool);                                                                 \
    template long Engine<Real>::deepest() const;                                                                 \
    template bool Engine<Real>::make_in_turns(const Region&, long, long, const std::function<void()>&, double);
NEARFIELD_INSTANTIATE(float)
NEARFIELD_INSTANTIATE(double)

}  // namespace nearfield
