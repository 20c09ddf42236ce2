// What is done to a part of a row at a half step, in order: operations that precede the update, the update with what
// the row takes of incident waves, operations that follow, copies at seams, the sum of squares. Schedules call nothing
// else.
#pragma once

#include <array>

#include "block.hpp"
#include "fetch.hpp"
#include "operation_lists.hpp"
#include "rows.hpp"
#include "seams.hpp"
#include "squares.hpp"
#include "step.hpp"
#include "step_counts.hpp"

namespace nearfield {

template <class Real>
class RowMaker {
public:
    RowMaker(Block<Real>& block, const Rows<Real>& rows, const Seams& seams, OperationLists<Real>& operations,
             SeamCopies<Real>& copies, Squares<Real>& squares)
        : block_(block), rows_(rows), operations_(operations), copies_(copies), squares_(squares),
          counts_(block.layout, seams), ring_{seams[0].closed, seams[1].closed} {}

    // A block of steps begins: operations are arranged.
    void begin();
    // A part of row (i, j); one that leant out of the row is empty, and nothing is done.
    void electric(long i, long j, const Blocks& part, const Step& step);
    void magnetic(long i, long j, const Blocks& part, const Step& step);
    // Fetches part `part` of `parts` of row (i, j), if there is one, into L2: its record, its psi in the slabs along a
    // and b, what operations keep for it. Rows go on past the end of a ring. Inlined always: see fetch.hpp.
    __attribute__((always_inline)) inline void fetch_row(long i, long j, long part, long parts) const;
    // Rows by which tiles and sides of regions lean a step.
    long reach() const { return operations_.reach(); }
    StepCounts& counts() { return counts_; }

private:
    template <int half>
    void make(long i, long j, const Blocks& part, const Step& step);

    Block<Real>& block_;
    const Rows<Real>& rows_;
    OperationLists<Real>& operations_;
    SeamCopies<Real>& copies_;
    Squares<Real>& squares_;
    StepCounts counts_;
    const bool ring_[2];
    // Set by `begin`.
    std::array<std::array<HalfStep<Real>, 2>, 2> half_step_{};  // by half and part
    typename Rows<Real>::Update update_[2] = {};                // of a row of the (real) part, by half
};

template <class Real>
__attribute__((always_inline)) inline void RowMaker<Real>::fetch_row(long i, long j, long part, long parts) const {
    const Layout& l = block_.layout;
    if (ring_[0] && i >= l.na) i -= l.na;
    if (ring_[1] && j >= l.nb) j -= l.nb;
    if (i < 0 || i >= l.na || j < 0 || j >= l.nb) return;
    constexpr long size = sizeof(Real);
    const auto fetch_part = [&](int n) __attribute__((always_inline)) {
        fetch(block_.records.get() + n * l.volume_length + l.record(i, j), l.record_length * size, part, parts);
        if (l.slab[0].holds(i, l.na))
            fetch(block_.a_psi.get() + n * l.a_psi_length() + l.a_psi(i, j), l.psi_row * size, part, parts);
        if (l.slab[1].holds(j, l.nb))
            fetch(block_.b_psi.get() + n * l.b_psi_length() + l.b_psi(i, j), l.psi_row * size, part, parts);
    };
    fetch_part(0);
    if (block_.parts > 1) fetch_part(1);
    operations_.fetch_ahead(l.row(i, j), i, j, part, parts);
}

}  // namespace nearfield
