#include "engine.hpp"

#include <algorithm>
#include <chrono>
#include <stdexcept>

#include "stream/copy.hpp"
#include "turns.hpp"

namespace nearfield {

template <class Real>
Engine<Real>::Engine(const Layout& layout, const Seams& seams, int parts, const Cuts& cuts,
                     const std::array<Extent, 3>& own, int weighed_along, long threads, const Placement& placement,
                     const std::string& isa)
    : seams_(seams), own_(own), isa_(isa_choose(isa)), rows_(rows_for<Real>(isa_)),
      // A domain's part of a plane must not share huge pages with its neighbour's.
      block_(layout, cuts.along_b() == 1, parts), domains_(cuts, std::max(1L, std::min(threads, layout.na)), placement),
      copies_(block_, seams_), squares_(block_, rows_, seams_, own_, weighed_along),
      maker_(block_, rows_, seams_, operations_, copies_, squares_),
      stepwise_({block_.layout, seams_, domains_, steps_, maker_, stop_}),
      tiled_({block_.layout, seams_, domains_, steps_, maker_, stop_}) {
    reset();
}

template <class Real>
void Engine<Real>::resume(long steps) {
    domains_.clear(block_);
    operations_.reset();
    steps_.made = steps, steps_.steps = 0;
    stop_.store(false);
    if constexpr (steps_are_counted) maker_.counts().reset(steps);
}

template <class Real>
void Engine<Real>::begin(long steps, const Tables<Real>& tables, bool weigh) {
    if (stop_.load())
        throw std::runtime_error("this engine was stopped between steps; reset() it before it advances again");
    if (steps_.steps) throw std::logic_error("a block of steps is under way");
    operations_.arrange(block_);
    squares_.begin(weigh);
    steps_.steps = steps, steps_.weighed = squares_.by_rows();
    steps_.rows.resize(steps);
    operations_.begin_block(block_, steps_.made + 1, steps, tables);
    if (cuts().along_c() > 1) operations_.expect(tiling().depth);
    maker_.begin();
    refreshed(0);
}

template <class Real>
bool Engine<Real>::run(const Region& region, long first, long last, const Poll& poll, double milliseconds) {
    if (first < 0 || last > steps_.steps || first >= last)
        throw std::logic_error("these steps are not of the block under way");
    Region stored = region;
    for (int axis = 0; axis < 2; ++axis)
        for (Side* side : {&stored.low[axis], &stored.high[axis]}) side->at += std::max(0L, seams_[axis].gap);
    if (tiling().depth && makes_turns(block_.layout, seams_))
        return make_in_turns(stored, first, last, poll, milliseconds);
    steps_.set_rows(stored, block_.layout, seams_, first, last);
    return make(first, last, poll, milliseconds);
}

// Steps [first, last) of a region that is whole along the closed axes, time block after time block.
template <class Real>
bool Engine<Real>::make_in_turns(const Region& region, long first, long last, const Poll& poll, double milliseconds) {
    using Clock = std::chrono::steady_clock;
    const auto pause = std::chrono::duration<double, std::milli>(milliseconds);
    auto polled = Clock::now();
    const long depth = deepest(tiling(), block_.layout, seams_, maker_.reach()),
               blocks = (last - first + depth - 1) / depth;
    for (long n = 0; n < blocks; ++n) {
        const long begin = first + (last - first) * n / blocks, end = first + (last - first) * (n + 1) / blocks;
        for (const Region& turn : turns_of(region, block_.layout, seams_, maker_.reach(), begin)) {
            steps_.set_rows(turn, block_.layout, seams_, begin, end);
            if (!make(begin, end, poll, milliseconds)) return false;
            if (Clock::now() - polled < pause) continue;
            poll();
            polled = Clock::now();
        }
    }
    return !stop_.load();
}

// Steps [first, last) of the rows that were set.
template <class Real>
bool Engine<Real>::make(long first, long last, const Poll& poll, double milliseconds) {
    const bool tiles = tiling().depth > 0;
    if (tiles)
        tiled_.begin(first, last);
    else
        stepwise_.begin(steps_.made + first);
    const auto work = [&](long thread) {
        ExactSum energy;
        try {
            if (tiles)
                tiled_.make(thread, energy);
            else
                stepwise_.sweep(thread, first, last, energy);
        } catch (...) {
            stop_.store(true);
            throw;
        }
        stream::settle_stores();
        if (last == steps_.steps) squares_.collect(energy);
    };
    domains_.team.run(work, poll, milliseconds);
    return !stop_.load();
}

template <class Real>
void Engine<Real>::end() {
    squares_.end(domains_.team);
    steps_.made += steps_.steps;
    steps_.steps = 0;
}

template <class Real>
void Engine<Real>::refreshed(long steps) {
    if (copies_.any()) copies_.carry_all(own_, steps > 0, maker_.reach());
    operations_.refresh(block_);
    if constexpr (steps_are_counted) maker_.counts().refresh(own_, steps_.made + steps);
}

template class Engine<float>;
template class Engine<double>;

}  // namespace nearfield
