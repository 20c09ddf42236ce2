// What else happens in a row at one half step, right after the update of the same cells: currents, circuits, recorders;
// or right before it: poles. Each is a file of operations/.
// A new feature is a new RowOperation; nothing else grows a branch.
#pragma once

#include "rows.hpp"
#include "step.hpp"

namespace nearfield {

template <class Real>
struct RowOperation {
    int component;  // storage component, 6 more for its imaginary part; the half step follows from it
    RowSpan span;
    RowOperation(int c, const RowSpan& rows) : component(c), span(rows) {}
    RowOperation(int c, long i, long j) : RowOperation(c, {{i, i + 1}, {j, j + 1}}) {}
    virtual ~RowOperation() = default;
    // `row`: the field of `component` in row `number` of the span, of which `cells` were just updated. An operation
    // reads and writes those alone, of this component or of the three that were updated with it; but see `reach`. The
    // cells of a row come in one piece or in several, from the first to the last; several rows may come at once, in
    // several threads.
    virtual void apply(Real* row, long number, const Cells& cells, const Step& step, const Tables<Real>& tables) = 0;
    // It acts just before the update of the same cells, not after it; it may then change all three components.
    virtual bool precedes() const { return false; }
    // Part `part` of `parts` of what it will read for a row is fetched into the second-level cache, if it precedes.
    virtual void fetch_ahead(long /*number*/, long /*part*/, long /*parts*/) const {}
    // Whether there is anything to do in a row of the span.
    virtual bool acts_on(long /*number*/) const { return true; }
    // 2: E reads H of the rows, and of the samples, after its own too, as far as one, and of those before and after
    // crosswise.
    virtual long reach() const { return 1; }
    // It acts on multiples of this step alone.
    virtual long stride() const { return 1; }
    // Before the first of `steps` steps; `row`, the first of the span, as the block finds it, perhaps written by the
    // user.
    virtual void begin_block(const Real* /*row*/, long /*first*/, long /*steps*/) {}
    // So many steps may be under way in a row at once.
    virtual void expect(long /*steps*/) {}
    // The row may have been written since: halos between steps.
    virtual void refresh(const Real* /*row*/) {}
    virtual void reset() {}
};

}  // namespace nearfield
