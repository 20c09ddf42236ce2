// The update of a row: the runs of its program, each by the variant that is made for it, then what is held at zero and
// what is taken from outside.
#pragma once

#include <algorithm>

#include "advance.hpp"

namespace nearfield::NEARFIELD_ISA {

template <class Real, bool electric, bool taking>
void update(const HalfStep<Real>& h, long i, long j, long first, long last, const Real* amounts) {
    const Program program = h.programs[h.program_of[i * h.rows + j]];
    const Length a = h.a.length[i], b = h.b.length[j];
    const bool unit = h.unit && a != Length::scaled && b != Length::scaled;
    const Advance<Real>* variants =
        of_rows<Real, electric>[4 * (a == Length::stretched) + 2 * (b == Length::stretched) + unit];
    Place<Real> place{i, j, i * h.plane + j * h.record, 0, 0, nullptr, nullptr};
    for (const Run *run = h.runs + program.first, *end = run + program.count; run != end; ++run) {
        place.first = lanes * std::max<long>(first, run->first), place.last = lanes * std::min<long>(last, run->last);
        const bool uniform = run->kind == Kind::uniform;
        place.values = h.values + (uniform ? lanes * run->offset : 0);
        place.places = h.places + (uniform ? 0 : run->offset + place.first / lanes - run->first);
        if (place.first < place.last) variants[2 * int(run->kind) + run->stretched](h, place);
    }
    for (const Held *held = h.held + program.held_first, *end = held + program.held_count; held != end; ++held) {
        Real* const f = h.updated + place.at + held->component * h.field;
        for (long k = std::max<long>(held->first, lanes * first), stop = std::min<long>(held->last, lanes * last);
             k < stop; ++k)
            f[k] = 0;
    }
    if constexpr (!taking) return;
    Real* const row = h.updated + place.at;
    for (const Taken *taken = h.taken + program.taken_first, *end = taken + program.taken_count; taken != end; ++taken)
        if (taken->block >= first && taken->block < last) add_single(row, taken->at, amounts[taken->amount]);
}

}  // namespace nearfield::NEARFIELD_ISA
