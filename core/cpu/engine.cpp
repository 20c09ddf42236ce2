#include "engine.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "stream/copy.hpp"

namespace nearfield {

template <class Real>
Engine<Real>::Engine(const Layout& layout, const Seams& seams, int parts, const Cuts& cuts, const std::array<Extent, 3>& own,
                     int weighed_along, long threads, const Placement& placement, const std::string& isa)
    // A domain's part of a plane must not share huge pages with its neighbour's.
    : block_(layout, cuts.along_b() == 1, parts), seams_(seams), any_seam_(seams[0].closed || seams[1].closed || seams[2].closed),
      cuts_(cuts), own_(own), weighed_along_(weighed_along), placement_(placement), isa_(isa_choose(isa)),
      rows_(rows_for<Real>(isa_)), team_(std::max(1L, std::min(threads, layout.na)), placement.processors),
      stints_(team_.size()), electric_done_(team_.size()), magnetic_done_(team_.size()), electric_last_(team_.size()),
      magnetic_first_(team_.size()) {
    placement_.nodes.resize(cuts_.count());
    share();
    partition();
    reset();
}

template <class Real>
void Engine<Real>::reset() {
    resume(0);
}

template <class Real>
void Engine<Real>::resume(long steps) {
    clear();
    for (auto& operation : owned_) operation->reset();
    step_ = steps, steps_ = 0;
    stop_.store(false);
#ifdef NEARFIELD_DEBUG
    for (auto& counts : made_) counts.assign(block_.layout.rows() * block_.layout.blocks, steps);
#endif
}

template <class Real>
void Engine<Real>::add(std::unique_ptr<RowOperation<Real>> operation) {
    operation_bytes_ += sizeof(*operation) + sizeof(void*);
    reach_ = std::max(reach_, operation->reach());
    owned_.push_back(std::move(operation));
}

template <class Real>
__attribute__((always_inline)) inline void Engine<Real>::apply(const std::vector<std::uint32_t>& of_rows, long i, long j,
                                                               const Blocks& part, const Step& step) {
    const std::uint32_t group = of_rows[block_.layout.row(i, j)];
    if (!group) return;
    const Operations& row = groups_[group];
    if (!(row.strides & due_[step.in_block])) return;
    const Cells cells = part.cells();
    Real* const record = block_.record(0, i, j);
    for (const Listed *listed = lists_.data() + row.first, *end = listed + row.count; listed != end; ++listed)
        listed->operation->apply(record + listed->component, listed->number(i, j), cells, step, tables_);
}

#ifdef NEARFIELD_DEBUG
template <class Real>
void Engine<Real>::count(int half, long i, long j, const Blocks& part) {
    for (long n = part.first; n < part.last; ++n) ++made(half, i, j, n);
}

// Ghosts never change and may be read at any step.
template <class Real>
void Engine<Real>::require(int half, long i, long j, Blocks part, long steps, const char* reader) {
    const Layout& l = block_.layout;
    if (seams_[0].closed) i = (i + l.na) % l.na;
    if (seams_[1].closed) j = (j + l.nb) % l.nb;
    if (i < 0 || j < 0 || i >= l.na || j >= l.nb) return;
    if (half == 0 && (i == seams_[0].gap || j == seams_[1].gap)) return;  // from over the gap, by H that is not used
    for (long n = std::max(0L, part.first); n < std::min(l.blocks, part.last); ++n)
        if (made(half, i, j, n) != steps)
            throw std::logic_error(std::string(reader) + " needs " + (half ? "H" : "E") + " of block " + std::to_string(n) +
                                   " of row (" + std::to_string(i) + ", " + std::to_string(j) + ") after step " +
                                   std::to_string(steps) + ", found step " + std::to_string(made(half, i, j, n)));
}
#endif

template <class Real>
void Engine<Real>::electric_row(long i, long j, const Blocks& part, const Step& step) {
    if (part.first >= part.last) return;  // it leant out of the row
#ifdef NEARFIELD_DEBUG
    require(0, i, j, part, step.number - 1, "E update");
    require(1, i, j, {part.first - 1, part.last}, step.number - 1, "E update");
    require(1, i - 1, j, part, step.number - 1, "E update");
    require(1, i, j - 1, part, step.number - 1, "E update");
    for (long di = -1; di <= 1 && reach_ > 1; ++di)
        for (long dj = -1; dj <= 1; ++dj) require(1, i + di, j + dj, {part.first - 1, part.last + 1}, step.number - 1, "coupling");
    count(0, i, j, part);
#endif
    if (!preceding_[0].empty()) apply(preceding_[0], i, j, part, step);
    update_[0](half_step_[0][0], i, j, part.first, part.last, amounts(0, i, j, step));
    if (block_.parts > 1) rows_.electric[0](half_step_[0][1], i, j, part.first, part.last, nullptr);
    if (!operations_[0].empty()) apply(operations_[0], i, j, part, step);
    if (any_seam_) carry(0, i, j, part);
}

template <class Real>
void Engine<Real>::magnetic_row(long i, long j, const Blocks& part, const Step& step) {
    if (part.first >= part.last) return;  // it leant out of the row
#ifdef NEARFIELD_DEBUG
    require(1, i, j, part, step.number - 1, "H update");
    require(0, i, j, {part.first, part.last + 1}, step.number, "H update");
    require(0, i + 1, j, part, step.number, "H update");
    require(0, i, j + 1, part, step.number, "H update");
    count(1, i, j, part);
#endif
    if (!preceding_[1].empty()) apply(preceding_[1], i, j, part, step);
    update_[1](half_step_[1][0], i, j, part.first, part.last, amounts(1, i, j, step));
    if (block_.parts > 1) rows_.magnetic[0](half_step_[1][1], i, j, part.first, part.last, nullptr);
    if (!operations_[1].empty()) apply(operations_[1], i, j, part, step);
    if (any_seam_) carry(1, i, j, part);
    if (!step.energy || part.last < block_.layout.blocks) return;
    for (int n = 0; n < block_.parts; ++n) weigh_row(n, i, j, *step.energy);
}

// Adds the squares of a row's own cells, block by block of 16.
template <class Real>
void Engine<Real>::weigh_row(int part, long i, long j, ExactSum& energy) {
    if (!own_[0].holds(i) || !own_[1].holds(j)) return;
    constexpr long most = 64;  // blocks at a time
    const Layout& l = block_.layout;
    double sums[most];
    const long end = (seams_[2].closed ? own_[2].last : padded(own_[2].last)) / lanes;
    for (long first = own_[2].first / lanes; first < end; first += most) {
        const long count = std::min(most, end - first);
        rows_.energy(block_.field(6 * part, i, j) + lanes * first, l.field_length, lanes * count, sums);
        for (long n = 0; n < count; ++n) energy.add(sums[n]);
    }
    if (seams_[2].closed && own_[2].last % lanes) energy.add(own_squares(part, i, j, end));
}

// The sum over a last block, without the copy of the first cell that follows a closed row.
template <class Real>
double Engine<Real>::own_squares(int part, long i, long j, long block) {
    Real cells[6 * lanes] = {};
    double sum;
    for (int component = 0; component < 6; ++component)
        std::copy(block_.field(6 * part + component, i, j) + lanes * block, block_.field(6 * part + component, i, j) + block_.layout.nc,
                  cells + component * lanes);
    rows_.energy(cells, lanes, lanes, &sum);
    return sum;
}

// The same sum where the blocks of 16 cells lie across the rows: lane after lane is a row, and a vector many blocks.
// Components count from the axis of the blocks on, as in rows that lie along it.
template <class Real>
void Engine<Real>::weigh_across(long thread, ExactSum& energy) {
    const Layout& l = block_.layout;
    const int along = weighed_along_, across = 1 - along;
    std::vector<double> lane(l.nc), sum(l.nc);
    const long blocks = (own_[along].last - own_[along].first + lanes - 1) / lanes;
    const long count = blocks * (own_[across].last - own_[across].first);
    for (long n = count * thread / team_.size(); n < count * (thread + 1) / team_.size(); ++n) {
        const long first = own_[along].first + n % blocks * lanes, other = own_[across].first + n / blocks;
        for (int part = 0; part < block_.parts; ++part) {
            std::fill(sum.begin(), sum.end(), 0.0);
            for (long m = first; m < std::min(first + lanes, own_[along].last); ++m) {
                std::fill(lane.begin(), lane.end(), 0.0);
                for (int component = 0; component < 6; ++component) {
                    const int stored = 6 * part + component / 3 * 3 + (component + along + 1) % 3;
                    const Real* const row = block_.field(stored, along ? other : m, along ? m : other);
                    for (long k = 0; k < l.nc; ++k) lane[k] += double(row[k]) * double(row[k]);
                }
                for (long k = 0; k < l.nc; ++k) sum[k] += lane[k];
            }
            for (long k = own_[2].first; k < own_[2].last; ++k) energy.add(sum[k]);
        }
    }
}

// The stepwise schedule: E of plane i, H of plane i - 1 one row behind it, so that every field passes through
// memory once a step and a record is at most one plane old when it is read again.
// Threads own consecutive planes; a thread's last H plane waits for its neighbour's first E plane of the same
// step, its first E plane for the neighbour's last H plane of the step before. There is no other barrier.
// Where E reads H of the next rows and planes too (`reach`), H follows plane by plane, and a thread's first H plane comes
// last: it waits for its neighbour's last E plane, as that does for this H plane of the step before.
template <class Real>
void Engine<Real>::sweep(long thread, long begin, long end, ExactSum& energy) {
    const long first = first_plane_[thread], last = first_plane_[thread + 1];
    const long nb = block_.layout.nb;
    const Blocks row = whole_row();
    const bool lowest = thread == 0, highest = thread == team_.size() - 1, ring = seams_[0].closed, far = reach_ > 1;
    const long below = lowest ? team_.size() - 1 : thread - 1, above = highest ? 0 : thread + 1;
    for (long n = begin; n < end; ++n) {
        const Step step = step_at(n, energy, thread);
        const StepRows& made = step_rows_[n];
        const auto electric = [&](long i, long j) {
            if (made.holds_stored(0, i, j, block_.layout)) electric_row(i, j, row, step);
        };
        const auto magnetic = [&](long i, long j) {
            if (made.holds_stored(1, i, j, block_.layout)) magnetic_row(i, j, row, step);
        };
        const auto magnetic_plane = [&](long i) {
            for (long j = 0; j < nb; ++j) magnetic(i, j);
        };
        if ((!lowest || ring) && !magnetic_done_[below].reached(step.number - 1, stop_)) return;
        for (long i = first; i < last; ++i) {
            if (stop_.load(std::memory_order_relaxed)) return;
            if (far && i == last - 1 && (!highest || ring) && !magnetic_first_[above].reached(step.number - 1, stop_)) return;
            for (long j = 0; j < nb; ++j) {
                electric(i, j);
                if (!far && i > first && j > 0) magnetic(i - 1, j - 1);
            }
            if (i == first) electric_done_[thread].raise(step.number);
            if (!far && i > first) magnetic(i - 1, nb - 1);
            if (far && i > first + 1) magnetic_plane(i - 1);
        }
        electric_last_[thread].raise(step.number);
        if ((!highest || ring) && !electric_done_[above].reached(step.number, stop_)) return;
        if (!far || last - first > 1) magnetic_plane(last - 1);
        if (far) {
            if ((!lowest || ring) && !electric_last_[below].reached(step.number, stop_)) return;
            magnetic_plane(first);
            magnetic_first_[thread].raise(step.number);
        }
        magnetic_done_[thread].raise(step.number);
    }
}

template <class Real>
void Engine<Real>::begin(long steps, const Tables<Real>& tables, bool weigh) {
    if (stop_.load()) throw std::runtime_error("this engine was stopped between steps; reset() it before it advances again");
    if (steps_) throw std::logic_error("a block of steps is under way");
    arrange();
    steps_ = steps, tables_ = tables, weigh_ = weigh;
    energy_ = {};
    step_rows_.resize(steps);
    due_.assign(steps, 1u << always);
    for (long n = 0; n < steps; ++n)
        for (std::size_t bit = 0; bit < strides_.size(); ++bit)
            if ((step_ + 1 + n) % strides_[bit] == 0) due_[n] |= 1u << bit;
    for (auto& operation : owned_)
        operation->begin_block(block_.field(operation->component, operation->span.a[0], operation->span.b[0]), step_ + 1, steps);
    if (cuts_.along_c() > 1)
        for (auto& operation : owned_) operation->expect(tiling_.depth);
    for (int half = 0; half < 2; ++half)
        for (int part = 0; part < block_.parts; ++part) half_step_[half][part] = block_.half_step(half, part);
    set_amounts(steps);
    refreshed(0);
}

template <class Real>
bool Engine<Real>::run(const Region& region, long first, long last, const std::function<void()>& poll, double milliseconds) {
    if (first < 0 || last > steps_ || first >= last) throw std::logic_error("these steps are not of the block under way");
    Region stored = region;
    for (int axis = 0; axis < 2; ++axis)
        for (Side* side : {&stored.low[axis], &stored.high[axis]}) side->at += std::max(0L, seams_[axis].gap);
    if (tiling_.depth && (ring(0) || ring(1))) return make_in_turns(stored, first, last, poll, milliseconds);
    set_rows(stored, first, last);
    return make(first, last, poll, milliseconds);
}

template <class Real>
void Engine<Real>::set_rows(const Region& region, long first, long last) {
    for (long n = first; n < last; ++n) step_rows_[n] = StepRows::of(region, block_.layout, seams_, n);
}

// Steps [first, last) of the rows that were set.
template <class Real>
bool Engine<Real>::make(long first, long last, const std::function<void()>& poll, double milliseconds) {
    if (tiling_.depth)
        cut_time(first, last);
    else
        for (auto* done : {&electric_done_, &magnetic_done_, &electric_last_, &magnetic_first_})
            for (Progress& p : *done) p.raise(step_ + first);
    const auto work = [&](long thread) {
        ExactSum energy;
        try {
            tiling_.depth ? tile(thread, energy) : sweep(thread, first, last, energy);
        } catch (...) {
            stop_.store(true);
            throw;
        }
        stream::settle_stores();
        if (!weigh_ || last < steps_) return;
        const std::lock_guard lock(energy_mutex_);
        energy_.add(energy);
    };
    team_.run(work, poll, milliseconds);
    return !stop_.load();
}

template <class Real>
void Engine<Real>::end() {
    if (weigh_ && weighed_along_ != 2)
        team_.run([this](long thread) {
            ExactSum energy;
            weigh_across(thread, energy);
            const std::lock_guard lock(energy_mutex_);
            energy_.add(energy);
        }, [] {});
    energy_.carry();
    step_ += steps_;
    steps_ = 0;
}

template <class Real>
void Engine<Real>::refreshed([[maybe_unused]] long steps) {
    if (any_seam_) carry_all(steps > 0);
    for (auto& operation : owned_)
        operation->refresh(block_.field(operation->component, operation->span.a[0], operation->span.b[0]));
#ifdef NEARFIELD_DEBUG
    const Layout& l = block_.layout;
    for (long i = 0; i < l.na; ++i)
        for (long j = 0; j < l.nb; ++j)
            for (long n = 0; n < l.blocks; ++n)
                if (!own_[0].holds(i) || !own_[1].holds(j) || !own_[2].holds(lanes * n))
                    made(0, i, j, n) = made(1, i, j, n) = step_ + steps;
#endif
}

template <class Real>
std::vector<StateArray> Engine<Real>::states() {
    const Layout& l = block_.layout;
    std::vector<StateArray> list;
    const char* names[6] = {"E0", "E1", "E2", "H0", "H1", "H2"};
    const char* psi[2] = {"psi electric", "psi magnetic"};
    for (int part = 0; part < block_.parts; ++part) {
        const std::string prefix = part ? "imaginary " : "";
        for (int component = 0; component < 6; ++component)
            list.push_back({prefix + names[component], component / 3, {l.na, l.nb, l.nc}, {l.plane_length, l.record_length, 1},
                            block_.field(6 * part + component, 0, 0)});
        for (int half = 0; half < 2; ++half) {
            const long offset = half * 2 * lanes;
            const auto add = [&](const char* axis, std::vector<long> shape, std::vector<long> stride, Real* data) {
                list.push_back({prefix + psi[half] + axis, half, std::move(shape), std::move(stride), data + offset});
            };
            if (l.slab[0].planes())
                add(" a", {l.slab[0].planes(), l.nb, l.blocks, 2 * lanes}, {l.nb * l.psi_row, l.psi_row, 4 * lanes, 1},
                    block_.a_psi_of(part));
            if (l.slab[1].planes())
                add(" b", {l.na, l.slab[1].planes(), l.blocks, 2 * lanes},
                    {l.slab[1].planes() * l.psi_row, l.psi_row, 4 * lanes, 1}, block_.b_psi_of(part));
            if (l.c_psi_blocks)
                add(" c", {l.na, l.nb, l.c_psi_blocks, 2 * lanes}, {l.plane_length, l.record_length, 4 * lanes, 1},
                    block_.records.get() + part * l.volume_length + l.c_psi(0, 0));
        }
    }
    return list;
}

template class Engine<float>;
template class Engine<double>;

}  // namespace nearfield
