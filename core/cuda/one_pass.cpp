// Steps of the engine on a device in one pass over memory, where nothing but the update happens (cut.hpp, sweep.h).
#include <algorithm>

#include "engine.hpp"

namespace nearfield::cuda {

// Where more than the update happens: a sample of a list, a dispersive medium.
template <class Real>
Places CardEngine<Real>::places_of_terms() const {
    const Layout& l = layout();
    Places found(l.na, l.nb, l.blocks);
    const auto mark = [&](long at) {  // in the records of one part
        const long i = at / l.plane_length - 1, j = at % l.plane_length / l.record_length - 1;
        const long k = at % l.record_length % l.field_length - lanes;
        found.add(found.at(i, j, k / lanes), 1);
    };
    for (const auto& half : stages_)
        for (const Stage<Real>& stage : half)
            for (const auto& entry : stage.entries) mark(entry.at % l.volume_length);
    for (const auto& each : poles_)
        if (each)
            for (const PoleBlock& block : each->blocks()) mark(block.at + l.record(0, 0));
    return found;
}

// Whether no stage changes what one before it has recorded.
template <class Real>
static bool recorded_last(const std::vector<Stage<Real>>& stages) {
    const auto acts = [](const Stage<Real>& stage) {
        return stage.kind == Follows::points || stage.kind == Follows::incident;
    };
    const auto meet = [](const Stage<Real>& one, const Stage<Real>& other) {
        return std::any_of(one.members.begin(), one.members.end(), [&](const Reach& member) {
            return std::any_of(other.members.begin(), other.members.end(),
                               [&](const Reach& another) { return member.meets(another); });
        });
    };
    for (auto stage = stages.begin(); stage != stages.end(); ++stage)
        if (!acts(*stage) && std::any_of(stage + 1, stages.end(),
                                         [&](const Stage<Real>& later) { return acts(later) && meet(*stage, later); }))
            return false;
    return true;
}

template <class Real>
void CardEngine<Real>::Sweeping::take(const Cut& cut) {
    plain.assign(cut.plain.list), in_slabs.assign(cut.in_slabs.list), carried.assign(cut.carried);
    for (std::size_t n = 0; n < cut.halves.size(); ++n) halves[n].assign(cut.halves[n]);
}

template <class Real>
std::size_t CardEngine<Real>::Sweeping::bytes() const {
    std::size_t sum = plain.bytes() + in_slabs.bytes() + carried.bytes();
    for (const Buffer<Tile>& each : halves) sum += each.bytes();
    return sum;
}

// How many blocks of a kernel a card makes at once, of which so many have registers on a multiprocessor; 0: it has not
// the memory for one.
template <class Real>
long CardEngine<Real>::at_once(const Kernel& kernel, long together) const {
    const long in_memory = long(device_->block_memory() / kernel.memory);
    return std::min(together, in_memory) * device_->multiprocessors();
}

// The cuts for a pass of one step, and of two, where each gains time over what makes fewer steps a pass; else empty ones.
// Slabs of the CPML go in prisms where a card can make those, and where that should take less time.
template <class Real>
std::array<Cut, 2> CardEngine<Real>::cuts_for_passes(const std::vector<Tile>& tiles) {
    // Bytes a second that prisms of one step and of two move, and tiles beside them, over those of whole half steps; and
    // numbers in blocks of 16 that these move while a launch takes its 2 us. Of an H200 (docs/gpu.md), but for prisms in
    // slabs, which have been on no card: one block has a multiprocessor where two have it elsewhere.
    constexpr double of_prisms[2][2] = {{0.75, 0.6}, {0.67, 0.43}}, of_rest = 0.85;  // in single precision, in double
    constexpr double in_slabs = 0.5;                                                 // of the rate of prisms elsewhere
    constexpr double of_launch = 1e5, worth_while = 0.95;                            // of the time of more passes
    std::array<Cut, 2> cuts;
    moved_numbers_ = moved_by_halves(tiles);
    if (passes_ == 2 || seams_[0].closed || seams_[1].closed || seams_[2].closed || reaches_far()) return cuts;
    records_last_ = recorded_last(stages_[0]) && recorded_last(stages_[1]);
    const Places acts = places_of_terms();
    const auto& slabs = layout().slab;
    const bool may_have_slabs = !in_double && slabs[0].planes() + slabs[1].planes() + slabs[2].planes() > 0;
    double least = moved_numbers_[0] + moved_numbers_[1];  // time, as numbers that half steps move in it
    for (int n = 0; n < 2; ++n) {
        Pass pass{n + 1, at_once(chosen(n ? sweep_two : sweep_one), 2), 0};
        if (!pass.at_once || (passes_ && passes_ > 1.0 / (n + 1))) continue;
        const double rate = of_prisms[in_double][n];
        const auto try_cut = [&](bool asked_for) {
            Cut cut = cut_by_place(layout(), tiles, acts, pass);
            const double launches = (!cut.carried.empty() + !cut.in_slabs.list.empty()) / (0.5 * (n + 1));
            const double time = cut.plain.moved / (rate * cut.plain.busy) + cut.by_halves / of_rest +
                                cut.in_slabs.moved / (rate * in_slabs * cut.in_slabs.busy) + launches * of_launch;
            if (cut.empty() || (!asked_for && time > worth_while * least)) return;
            least = time;
            cuts[n] = std::move(cut);
        };
        try_cut(passes_);
        pass.at_once_in_slabs = may_have_slabs ? at_once(n ? sweep_slab_two : sweep_slab_one, 1) : 0;
        if (pass.at_once_in_slabs) try_cut(passes_);
    }
    return cuts;
}

// Takes the second set of fields, where it does not fit none: two passes need half the memory.
template <class Real>
void CardEngine<Real>::prepare_sweeps(const std::array<Cut, 2>& cuts) {
    const Cut& fewest = cuts[cuts[1].empty() ? 0 : 1];
    if (fewest.empty()) return;
    try {
        other_.records.resize(fields_.records.size());
        other_.a_psi.resize(fields_.a_psi.size()), other_.b_psi.resize(fields_.b_psi.size());
        for (int n = 0; n < 2; ++n) sweeps_[n].take(cuts[n]);
        moved_numbers_ = {fewest.moved(), 0};
    } catch (const DeviceFull&) {
        if (passes_) throw;
        other_ = FieldSet(*device_);
        for (Sweeping& each : sweeps_) each = Sweeping(*device_);
    }
}

// Whether something records whole boxes in a step.
template <class Real>
bool CardEngine<Real>::records(long number) const {
    return copies_are_due(number, number + 1) ||
           std::any_of(transforms_.begin(), transforms_.end(),
                       [=](const Transform<Real>& each) { return number % each.stride == 0; });
}

// Whether a step may go in one pass. Boxes are recorded after it, which is too late for one whose samples a later term
// of the same half changes.
template <class Real>
bool CardEngine<Real>::may_sweep(long number) const {
    return passes() <= 1 && (records_last_ || !records(number));
}

// Whether a step that does not go with the next one goes in one pass.
template <class Real>
bool CardEngine<Real>::sweeps(long number) const {
    return sweeps_[0].any() && may_sweep(number);
}

// Whether a step and the next one, before `last`, go in one pass; of the first nothing is left to record.
template <class Real>
bool CardEngine<Real>::goes_with_next(long number, long last) const {
    return sweeps_[1].any() && number + 1 < last && may_sweep(number) && may_sweep(number + 1) && !records(number);
}

// What records boxes, once both halves of a step are made: no half changes the other's fields.
template <class Real>
void CardEngine<Real>::record(long number) {
    for (int half = 0; half < 2; ++half)
        for (Stage<Real>& stage : stages_[half])
            if (stage.kind == Follows::spectrum || stage.kind == Follows::snapshot) follow(half, stage, number);
}

// Half a step of what is not in prisms, and what follows it there.
template <class Real>
void CardEngine<Real>::make_rest(int half, const Buffer<Tile>& tiles, long number) {
    for (int p = 0; p < parts(); ++p) launch_half(half, p, tiles);
    for (Stage<Real>& stage : stages_[half])
        if (stage.kind == Follows::points || stage.kind == Follows::incident) follow(half, stage, number);
}

// One step, or two, from one set of fields to the other, which change places: first the halves of what is not in prisms,
// there, then these, over what the halves have spoiled.
template <class Real>
void CardEngine<Real>::sweep_steps(long number, long steps) {
    const Sweeping& sweep = sweeps_[steps - 1];
    turn();
    for (int p = 0; p < parts(); ++p) carry_part(p, sweep.carried);
    for (long n = 0; n < 2 * steps; ++n) {
        if (n % 2 == 0) launch(tick, 1, Tick<N>{now_.data()});
        make_rest(n % 2, sweep.halves[n], number + n / 2);
    }
    for (int p = 0; p < parts(); ++p)
        for (const bool in_slabs : {true, false}) sweep_part(p, steps, in_slabs);
    record(number + steps - 1);
}

template <class Real>
auto CardEngine<Real>::psi_sets(int p) const -> PsiSets<N> {
    const Layout& l = layout();
    const long a = p * l.a_psi_length(), b = p * l.b_psi_length();
    return {other_.a_psi.data() + a,
            other_.b_psi.data() + b,
            fields_.a_psi.data() + a,
            fields_.b_psi.data() + b,
            l.psi_row,
            l.slab[1].planes() * l.psi_row};
}

template <class Real>
void CardEngine<Real>::carry_part(int p, const Buffer<Tile>& tiles) {
    if (!tiles.size()) return;
    const Layout& l = layout();
    const long first = p * l.volume_length + l.record(0, 0);
    const Carry<N> arguments{other_.records.data() + first,
                             fields_.records.data() + first,
                             psi_sets(p),
                             tiles.data(),
                             l.record_length,
                             l.plane_length,
                             int(l.field_length),
                             int(l.nb),
                             int(l.c_low),
                             int(l.c_high - l.c_low)};
    device_->launch(sweep_carry[in_double], long(tiles.size()), &arguments);
}

template <class Real>
auto CardEngine<Real>::sweep_half(int half) const -> SweepHalf<N> {
    const HalfArrays& arrays = half_arrays_[half];
    return {axis_of(half, 0),         axis_of(half, 1),      axis_of(half, 2),
            arrays.program_of.data(), arrays.entries.data(), arrays.values.data()};
}

template <class Real>
void CardEngine<Real>::sweep_part(int p, long steps, bool in_slabs) {
    const Sweeping& sweep = sweeps_[steps - 1];
    const Buffer<Prism>& prisms = in_slabs ? sweep.in_slabs : sweep.plain;
    if (!prisms.size()) return;
    const Layout& l = layout();
    const auto along = [&](int axis, long samples) {
        return SlabAlong{int(l.slab[axis].low), int(samples - l.slab[axis].planes())};
    };
    const long first = p * l.volume_length + l.record(0, 0);
    const Sweep<N> arguments{other_.records.data() + first,
                             fields_.records.data() + first,
                             psi_sets(p),
                             {along(0, l.na), along(1, l.nb), {int(l.c_low), int(l.c_high - l.c_low)}},
                             sweep_half(0),
                             sweep_half(1),
                             prisms.data(),
                             l.record_length,
                             l.plane_length,
                             int(l.field_length),
                             int(l.na),
                             int(l.nb),
                             int(l.blocks)};
    const Kernel& kernel = in_slabs     ? steps == 2 ? sweep_slab_two : sweep_slab_one
                           : steps == 2 ? chosen(sweep_two)
                                        : chosen(sweep_one);
    device_->launch(kernel, long(prisms.size()), &arguments);
}

template class CardEngine<float>;
template class CardEngine<double>;

}  // namespace nearfield::cuda
