// A block of steps of the engine on a device: tables, launches, recordings.
#include <algorithm>
#include <chrono>
#include <stdexcept>

#include "engine.hpp"

namespace nearfield::cuda {

template <class Real>
void CardEngine<Real>::begin(long steps, const std::array<std::vector<Real>, 2>& amplitudes, long waveforms,
                             const std::vector<std::vector<Real>>& phasors, const std::vector<Table>& waves,
                             bool weigh) {
    if (stopped_)
        throw std::runtime_error("this engine was stopped between steps; reset() it before it advances again");
    arrange();
    waveforms_ = waveforms;
    for (int half = 0; half < 2; ++half) amplitudes_[half].assign(amplitudes[half]);
    for (std::size_t n = 0; n < transforms_.size(); ++n) transforms_[n].phasors.assign(phasors[n]);
    while (waves_.size() < waves.size()) waves_.push_back({Buffer<N>(*device_), 0});
    std::array<std::vector<WaveTable<N>>, 2> tables;
    for (std::size_t n = 0; n < waves.size(); ++n) {
        waves_[n].values.assign(waves[n].values);
        for (int half = 0; half < 2; ++half) {
            const N* const values = waves_[n].values.data() + half * steps * waves[n].columns;
            tables[half].push_back({waves[n].values.empty() ? nullptr : values, waves[n].columns});
        }
    }
    for (int half = 0; half < 2; ++half) wave_tables_[half].assign(tables[half]);
    std::vector<Products> sums;
    for (SumOfProducts& each : functionals_) {
        each.products.resize(each.samples(made_, steps) * each.terms);
        sums.push_back({each.products.data(), each.terms, each.stride});
    }
    functional_arrays_.assign(sums);
    for (Copies<Real>& each : copies_) {
        const long due = each.taken(made_ + steps) - each.taken(made_);
        if (!each.kept && long(each.places.size()) != due)
            throw std::logic_error("each snapshot of this block needs a place");
        each.taken_in_block.resize(due * each.box.samples());
        if (due) device_->prepare_to_read_later();
    }
    send();
    remember();
    const Now now{made_, -1, made_};
    now_.write(&now);
    steps_ = steps, done_ = 0, weighed_ = weigh;
    device_is_newer_ = true;
}

// What circuits need of fields that somebody else may have written.
template <class Real>
void CardEngine<Real>::remember() {
    for (int half = 0; half < 2; ++half)
        for (const Stage<Real>& stage : stages_[half])
            if (stage.kind == Follows::points) launch(remember_points, stage.touched, points_of(half, stage));
}

template <class Real>
bool CardEngine<Real>::run(const std::function<void()>& poll, double milliseconds, long last) {
    using Clock = std::chrono::steady_clock;
    const auto pause = std::chrono::duration<double, std::milli>(milliseconds);
    auto polled = Clock::now();
    bool asked = false;
    send();
    device_is_newer_ = true;
    until_ = last < 0 ? steps_ : std::min(last, steps_);
    while (done_ < until_ && !stopped_) {
        done_ += make_steps(made_ + done_ + 1);
        device_->pace();
        while (!leaving_.empty() && device_->has_arrived()) receive_snapshot();
        if (asked && Clock::now() - polled < pause) continue;
        poll();
        asked = true;
        polled = Clock::now();
    }
    while (!leaving_.empty()) receive_snapshot();
    device_->wait();
    return !stopped_;
}

// ---- graphs

constexpr long steps_of_graph = 16;      // at most; a graph then costs the host some microseconds a step
constexpr std::size_t most_graphs = 64;  // of one engine

// Makes some steps from `number` on, and says how many. Steps without snapshots go in powers of two; those in which the
// same spectra are due are alike but for what kernels read by `Now`, and are one graph from their second time on. A
// step with a snapshot goes alone, or as the second of a pass.
template <class Real>
long CardEngine<Real>::make_steps(long number) {
    if (graph_changes_ != device_->changes()) {
        device_->forget_graphs(), graphs_.clear();
        graph_changes_ = device_->changes();
    }
    const bool pair = done_ + 1 < until_ && goes_with_next(number, number + 2);
    long count = steps_of_graph;
    while (count > 1 + pair && (done_ + count > until_ || copies_are_due(number, number + count))) count /= 2;
    const auto make = [&] {
        for (long n = 0; n < count;) n += make_step(number + n, number + count);
    };
    if (copies_are_due(number, number + count)) {
        make();
        return count;
    }
    const auto [known, first] = graphs_.try_emplace(due(number, count));
    Known& steps = known->second;
    const bool again = steps.made;
    if (!first && !steps.made && device_->graphs() < most_graphs) {
        device_->begin_graph();
        make();
        device_->end_graph();
        steps = {true, device_->graphs() - 1};
    }
    if (!steps.made) {
        make();
        return count;
    }
    device_->replay(steps.graph);
    for (long n = number; n < number + count && again; ++n) {  // as they did when the graph was made
        const bool pair = goes_with_next(n, number + count);
        if (pair || sweeps(n)) turn();
        n += pair;
    }
    return count;
}

// Which set of records is which, and by step and transform whether it is due.
template <class Real>
std::vector<bool> CardEngine<Real>::due(long first, long count) const {
    std::vector<bool> found{turned_};
    for (long step = first; step < first + count; ++step) {
        found.push_back(true);  // so that the number of steps can be told
        for (const Transform<Real>& each : transforms_) found.push_back(step % each.stride == 0);
    }
    return found;
}

template <class Real>
std::vector<std::vector<double>> CardEngine<Real>::end() {
    std::fill(energy_.begin(), energy_.end(), 0);
    if (weighed_) weigh();
    std::vector<std::vector<double>> recorded;
    for (const SumOfProducts& each : functionals_) recorded.push_back(each.sums(each.samples(made_, steps_)));
    for (Copies<Real>& each : copies_) each.places.clear();
    made_ += steps_;
    steps_ = 0;
    return recorded;
}

// Makes a step, or two of those before `last`, and says how many.
template <class Real>
long CardEngine<Real>::make_step(long number, long last) {
    if (goes_with_next(number, last)) return sweep_steps(number, 2), 2;
    if (sweeps(number)) return sweep_steps(number, 1), 1;
    launch(tick, 1, Tick<N>{now_.data()});
    make_half(0, number);
    make_half(1, number);
    return 1;
}

template <class Real>
void CardEngine<Real>::make_half(int half, long number) {
    for (int p = 0; p < parts(); ++p) {
        launch_half(half, p, tiles_);
        if (half == 0 && coupled_.size())
            launch(coupling, long(coupled_.size()),
                   Coupling<N>{part(p), coupled_.data(), coupled_first_.data(), offsets_.data(),
                               coupling_weights_.data(), int(coupled_.size()), scale(0), scale(1)});
    }
    for (Stage<Real>& stage : stages_[half]) follow(half, stage, number);
    close(half);
}

template <class Real>
auto CardEngine<Real>::axis_of(int half, int axis) const -> Axis<N> {
    const auto& [inverse, decay, drive] = half_arrays_[half].profile[axis];
    return {inverse.data(), decay.data(), drive.data()};
}

// Poles and the update of some tiles of one part.
template <class Real>
void CardEngine<Real>::launch_half(int half, int p, const Buffer<Tile>& tiles) {
    const Layout& l = placed_;
    const HalfArrays& arrays = half_arrays_[half];
    N* const records = place(p * l.volume_length + l.record(0, 0));
    if (const auto& media = poles_[2 * p + half]) media->launch(*device_, chosen(cuda::poles), records, scale(half));
    const HalfStep<N> arguments{records,
                                fields_.a_psi.data() + p * l.a_psi_length(),
                                fields_.b_psi.data() + p * l.b_psi_length(),
                                axis_of(half, 0),
                                axis_of(half, 1),
                                axis_of(half, 2),
                                arrays.program_of.data(),
                                arrays.entries.data(),
                                arrays.values.data(),
                                tiles.data(),
                                l.record_length,
                                l.plane_length,
                                l.psi_row,
                                l.slab[1].planes() * l.psi_row,
                                int(l.field_length),
                                int(l.nb),
                                int(l.blocks),
                                int(l.c_low),
                                int(l.c_high - l.c_low),
                                scale(half),
                                scale(1 - half)};
    if (tiles.size())
        device_->launch(chosen(half ? half_step_magnetic : half_step_electric), long(tiles.size()), &arguments);
}

template <class Real>
void CardEngine<Real>::follow(int half, Stage<Real>& stage, long number) {
    if (stage.kind == Follows::points) {
        launch(points, stage.touched, points_of(half, stage));
    } else if (stage.kind == Follows::incident) {
        launch(incident, stage.touched,
               Incident<N>{fields_.records.data(), now_.data(), stage.samples.data(), stage.received.data(),
                           stage.weights.data(), columns_.data(), shares_.data(), wave_tables_[half].data(),
                           int(stage.touched), scale(half)});
    } else if (stage.kind == Follows::spectrum) {
        Transform<Real>& each = transforms_[stage.recorder];
        if (number % each.stride) return;
        launch(spectrum, each.box.samples(),
               Spectrum<N>{box_of(each.box), now_.data(), each.phasors.data(), each.sums.data(),
                           int(2 * each.frequencies)});
    } else {
        Copies<Real>& each = copies_[stage.recorder];
        if (!each.is_due(number)) return;
        const long place = each.taken(number) - 1 - each.taken(made_);
        launch(copy_box, each.box.samples(),
               CopyBox<N>{box_of(each.box), each.taken_in_block.data() + place * each.box.samples(), each.unit});
        send_snapshot(stage.recorder, place);
    }
}

template <class Real>
auto CardEngine<Real>::points_of(int half, const Stage<Real>& stage) const -> Points<N> {
    return {fields_.records.data(),   now_.data(),
            stage.samples.data(),     stage.actions.data(),
            currents_.data(),         circuit_numbers_.data(),
            circuit_columns_.data(),  circuit_states_.data(),
            products_.data(),         functional_arrays_.data(),
            amplitudes_[half].data(), int(stage.touched),
            int(waveforms_),          scale(half)};
}

template <class Real>
auto CardEngine<Real>::box_of(const BoxOf& box) const -> Box<N> {
    const auto [ni, nj, nk] = box.shape();
    return {place(at(box.component, box.lower[0], box.lower[1], box.lower[2])),
            placed_.plane_length,
            placed_.record_length,
            {ni, nj, nk},
            scale(box.component / 3 % 2)};
}

// The copies of one half's fields that close axes, in the order of core/cpu/seams.cpp: H of the last samples goes
// before the first, E of the first past the last; where E reads H all about, H goes both ways, whole and round corners.
template <class Real>
void CardEngine<Real>::close(int half) {
    for (const int axis : {2, 0, 1}) {
        if (!seams_[axis].closed) continue;
        if (half) close_axis(half, axis, false);
        if (!half || reaches_far()) close_axis(half, axis, true);
    }
}

template <class Real>
void CardEngine<Real>::close_axis(int half, int axis, bool upwards) {
    const Layout& l = placed_;
    const bool far = half && reaches_far();
    const long length = axis == 0 ? l.na : axis == 1 ? l.nb : l.nc;
    const long from = upwards ? 0 : length - 1, to = upwards ? length : -1;
    const long ends = reaches_far() && seams_[2].closed, round = far && seams_[0].closed;
    Seam<N> s{part(0),    parts() > 1 ? part(1) : nullptr, 0, 0, 0, 1, {0, 0, 0}, 0, l.field_length, 0, 0, {}, {},
              scale(half)};
    for (int c = 0; c < 3; ++c)
        if (far || c != axis) s.components[s.count++] = 3 * half + c;
    const auto field = [&](long i, long j, long k) { return l.field(0, i, j) + k; };
    if (axis == 2) {
        s.from = field(0, 0, from), s.to = field(0, 0, to);
        s.outer = l.plane_length, s.outers = l.na, s.inner = l.record_length, s.inners = l.nb;
    } else if (axis == 0) {
        s.from = field(from, 0, -ends), s.to = field(to, 0, -ends);
        s.outer = l.record_length, s.outers = l.nb, s.inners = l.nc + 2 * ends;
    } else {
        s.from = field(-round, from, -ends), s.to = field(-round, to, -ends);
        s.outer = l.plane_length, s.outers = l.na + 2 * round, s.inners = l.nc + 2 * ends;
    }
    s.cosine = Real(seams_[axis].cosine), s.sine = Real((upwards ? -1.0 : 1.0) * seams_[axis].sine);
    launch(seam, s.outers * s.inners * s.count, s);
}

template <class Real>
void CardEngine<Real>::weigh() {
    const Layout& l = placed_;
    const long stride[3] = {l.plane_length, l.record_length, 1};
    const int along = weighed_along_, across = (along + 1) % 3, other = (along + 2) % 3;
    const auto count = [this](int axis) { return own_[axis].last - own_[axis].first; };
    digits_.clear();
    for (int p = 0; p < parts(); ++p) {
        Energy<N> e{{},
                    stride[along],
                    stride[across],
                    stride[other],
                    {own_[along].first, own_[across].first, own_[other].first},
                    {own_[along].last, own_[across].last, own_[other].last},
                    digits_.data(),
                    int(padded(count(along)) / lanes),
                    {scale(0), scale(1)}};
        for (int c = 0; c < 6; ++c)
            e.components[c] = place(p * l.volume_length + l.field(c / 3 * 3 + (c + along + 1) % 3, 0, 0));
        launch(energy, lanes * e.blocks * count(across) * count(other), e);
    }
    digits_.read(energy_.data());
    for (int n = 0; n + 1 < ExactSum::digits; ++n) {  // all but the last below 2^32, as ExactSum::carry leaves them
        energy_[n + 1] += energy_[n] >> 32;
        energy_[n] &= 0xffffffff;
    }
}

template class CardEngine<float>;
template class CardEngine<double>;

}  // namespace nearfield::cuda
