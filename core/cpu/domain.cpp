#include "domain.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace nearfield {

namespace {
constexpr std::size_t always = 31;  // the bit of strides that found no bit of their own
}

template <class Real>
Domain<Real>::Domain(const Layout& layout, long threads, const std::string& isa)
    : block_(layout), isa_(isa_choose(isa)), rows_(rows_for<Real>(isa_)),
      threads_(std::max(1L, std::min(threads, layout.na))), electric_done_(threads_), magnetic_done_(threads_) {
    partition();
    reset();
}

// Planes in an a slab cost more; by how much is an estimate, and bears on the balance of the threads alone.
template <class Real>
void Domain<Real>::partition() {
    const Layout& l = block_.layout;
    const auto cost = [&](long i) { return l.slab[0].holds(i, l.na) ? 1.35 : 1.0; };
    double total = 0, sum = 0;
    for (long i = 0; i < l.na; ++i) total += cost(i);
    first_plane_.assign(1, 0);
    for (long i = 0; i < l.na; ++i) {
        const long thread = static_cast<long>(first_plane_.size());
        const bool must = l.na - i == threads_ - thread;  // one plane left for each thread still to come
        if (thread < threads_ && i > first_plane_.back() && (must || sum >= total * thread / threads_))
            first_plane_.push_back(i);
        sum += cost(i);
    }
    first_plane_.push_back(l.na);
}

template <class Real>
void Domain<Real>::first_touch(long thread) {
    const Layout& l = block_.layout;
    const long first = thread == 0 ? -1 : first_plane_[thread];
    const long last = thread == threads_ - 1 ? l.na + 1 : first_plane_[thread + 1];
    std::fill_n(block_.records.get() + l.record(first, -1), (last - first) * l.plane_length, Real(0));
    for (long i = first_plane_[thread]; i < first_plane_[thread + 1]; ++i) {
        if (l.slab[0].holds(i, l.na)) std::fill_n(block_.a_psi.get() + l.a_psi(i, 0), l.nb * l.psi_row, Real(0));
        const long slab = l.slab[1].planes() * l.psi_row;
        std::fill_n(block_.b_psi.get() + i * slab, slab, Real(0));
    }
}

template <class Real>
void Domain<Real>::reset() {
    run_team(threads_, [this](long thread) { first_touch(thread); }, [] {});
    for (Progress& p : electric_done_) p.raise(0);
    for (Progress& p : magnetic_done_) p.raise(0);
    for (auto& operation : owned_) operation->reset();
    step_ = 0;
    stop_.store(false);
#ifdef NEARFIELD_DEBUG
    for (auto& counts : made_) counts.assign(block_.layout.rows() * block_.layout.blocks, 0);
#endif
}

template <class Real>
void Domain<Real>::add(std::unique_ptr<RowOperation<Real>> operation) {
    operation_bytes_ += sizeof(*operation) + sizeof(void*);
    owned_.push_back(std::move(operation));
}

// Lists the operations of every row.
template <class Real>
void Domain<Real>::arrange() {
    if (arranged_ == owned_.size()) return;
    arranged_ = owned_.size();
    lists_.clear(), strides_.clear();
    const Layout& l = block_.layout;
    for (int half = 0; half < 2; ++half) {
        operations_[half].clear();
        std::vector<std::vector<RowOperation<Real>*>> of_row(l.rows());
        bool any = false;
        for (const auto& operation : owned_) {
            if (operation->component / 3 != half) continue;
            any = true;
            const RowSpan& span = operation->span;
            for (long i = span.a[0]; i < span.a[1]; ++i)
                for (long j = span.b[0]; j < span.b[1]; ++j) of_row[l.row(i, j)].push_back(operation.get());
        }
        if (!any) continue;
        operations_[half].resize(l.rows());
        for (long row = 0; row < l.rows(); ++row) operations_[half][row] = list(of_row[row]);
    }
}

// Where these operations stand in a row; rows like the one before share its list.
template <class Real>
auto Domain<Real>::list(const std::vector<RowOperation<Real>*>& wanted) -> Operations {
    Operations row;
    row.count = static_cast<std::uint32_t>(wanted.size());
    const std::size_t tail = lists_.size() - std::min(lists_.size(), wanted.size());
    if (!std::equal(wanted.begin(), wanted.end(), lists_.begin() + tail, lists_.end()))
        lists_.insert(lists_.end(), wanted.begin(), wanted.end());
    row.first = static_cast<std::uint32_t>(lists_.size() - wanted.size());
    for (const RowOperation<Real>* operation : wanted) {
        const auto known = std::find(strides_.begin(), strides_.end(), operation->stride());
        const std::size_t bit = std::min<std::size_t>(always, known - strides_.begin());
        if (known == strides_.end() && bit < always) strides_.push_back(operation->stride());
        row.strides |= 1u << bit;
    }
    return row;
}

template <class Real>
void Domain<Real>::apply(int half, long i, long j, const Blocks& part, const Step& step, const Tables<Real>& tables) {
    if (operations_[half].empty()) return;
    const Operations& row = operations_[half][block_.layout.row(i, j)];
    if (!(row.strides & due_[step.in_block])) return;
    for (std::uint32_t n = row.first; n < row.first + row.count; ++n) {
        RowOperation<Real>& operation = *lists_[n];
        operation.apply(block_.field(operation.component, i, j), operation.span.index(i, j), part.cells(), step, tables);
    }
}

#ifdef NEARFIELD_DEBUG
template <class Real>
void Domain<Real>::count(int half, long i, long j, const Blocks& part) {
    for (long n = part.first; n < part.last; ++n) ++made(half, i, j, n);
}

// Ghosts never change and may be read at any step.
template <class Real>
void Domain<Real>::require(int half, long i, long j, Blocks part, long steps, const char* reader) {
    const Layout& l = block_.layout;
    if (i < 0 || j < 0 || i >= l.na || j >= l.nb) return;
    for (long n = std::max(0L, part.first); n < std::min(l.blocks, part.last); ++n)
        if (made(half, i, j, n) != steps)
            throw std::logic_error(std::string(reader) + " needs " + (half ? "H" : "E") + " of block " + std::to_string(n) +
                                   " of row (" + std::to_string(i) + ", " + std::to_string(j) + ") after step " +
                                   std::to_string(steps) + ", found step " + std::to_string(made(half, i, j, n)));
}
#endif

template <class Real>
void Domain<Real>::electric_row(long i, long j, const Blocks& part, const Step& step, const Tables<Real>& tables) {
#ifdef NEARFIELD_DEBUG
    require(0, i, j, part, step.number - 1, "E update");
    require(1, i, j, {part.first - 1, part.last}, step.number - 1, "E update");
    require(1, i - 1, j, part, step.number - 1, "E update");
    require(1, i, j - 1, part, step.number - 1, "E update");
    count(0, i, j, part);
#endif
    rows_.electric(half_step_[0], i, j, part.first, part.last);
    apply(0, i, j, part, step, tables);
}

template <class Real>
void Domain<Real>::magnetic_row(long i, long j, const Blocks& part, const Step& step, const Tables<Real>& tables, bool weigh) {
#ifdef NEARFIELD_DEBUG
    require(1, i, j, part, step.number - 1, "H update");
    require(0, i, j, {part.first, part.last + 1}, step.number, "H update");
    require(0, i + 1, j, part, step.number, "H update");
    require(0, i, j + 1, part, step.number, "H update");
    count(1, i, j, part);
#endif
    const Layout& l = block_.layout;
    rows_.magnetic(half_step_[1], i, j, part.first, part.last);
    apply(1, i, j, part, step, tables);
    if (weigh && part.last == l.blocks)
        row_energy_[l.row(i, j)] = rows_.energy(block_.field(0, i, j), l.field_length, lanes * l.blocks);
}

// The stepwise schedule: E of plane i, H of plane i - 1 one row behind it, so that every field passes through
// memory once a step and a record is at most one plane old when it is read again.
// Threads own consecutive planes; a thread's last H plane waits for its neighbour's first E plane of the same
// step, its first E plane for the neighbour's last H plane of the step before. There is no other barrier.
template <class Real>
void Domain<Real>::sweep(long thread, long steps, const Tables<Real>& tables, bool weigh) {
    const long first = first_plane_[thread], last = first_plane_[thread + 1];
    const long nb = block_.layout.nb;
    const Blocks row = whole_row();
    const bool lowest = thread == 0, highest = thread == threads_ - 1;
    for (long n = 0; n < steps; ++n) {
        const Step step{step_ + n + 1, n};
        const bool now = weigh && n == steps - 1;
        if (!lowest && !magnetic_done_[thread - 1].reached(step.number - 1, stop_)) return;
        for (long i = first; i < last; ++i) {
            if (stop_.load(std::memory_order_relaxed)) return;
            for (long j = 0; j < nb; ++j) {
                electric_row(i, j, row, step, tables);
                if (i > first && j > 0) magnetic_row(i - 1, j - 1, row, step, tables, now);
            }
            if (i == first) electric_done_[thread].raise(step.number);
            if (i > first) magnetic_row(i - 1, nb - 1, row, step, tables, now);
        }
        if (!highest && !electric_done_[thread + 1].reached(step.number, stop_)) return;
        for (long j = 0; j < nb; ++j) magnetic_row(last - 1, j, row, step, tables, now);
        magnetic_done_[thread].raise(step.number);
    }
}

template <class Real>
bool Domain<Real>::advance(long steps, const Tables<Real>& tables, bool weigh, const std::function<void()>& poll) {
    if (stop_.load()) throw std::runtime_error("this engine was stopped between steps; reset() it before it advances again");
    arrange();
    due_.assign(steps, 1u << always);
    for (long n = 0; n < steps; ++n)
        for (std::size_t bit = 0; bit < strides_.size(); ++bit)
            if ((step_ + 1 + n) % strides_[bit] == 0) due_[n] |= 1u << bit;
    for (auto& operation : owned_)
        operation->begin_block(block_.field(operation->component, operation->span.a[0], operation->span.b[0]), step_ + 1, steps);
    if (weigh) row_energy_.resize(block_.layout.rows());
    half_step_ = {block_.half_step(0), block_.half_step(1)};
    if (tiling_.depth) {
        const long blocks = (steps + tiling_.depth - 1) / tiling_.depth;
        band_done_ = std::vector<Progress>(blocks * bands());
    } else {
        for (auto* done : {&electric_done_, &magnetic_done_})
            for (Progress& p : *done) p.raise(step_);
    }
    const auto work = [&](long thread) {
        try {
            tiling_.depth ? tile(thread, steps, tables, weigh) : sweep(thread, steps, tables, weigh);
        } catch (...) {
            stop_.store(true);
            throw;
        }
    };
    run_team(threads_, work, poll);
    if (stop_.load()) return false;
    step_ += steps;
    return true;
}

template <class Real>
std::vector<StateArray> Domain<Real>::states() {
    const Layout& l = block_.layout;
    std::vector<StateArray> list;
    const char* names[6] = {"E0", "E1", "E2", "H0", "H1", "H2"};
    for (int component = 0; component < 6; ++component)
        list.push_back({names[component], component / 3, {l.na, l.nb, l.nc}, {l.plane_length, l.record_length, 1},
                        block_.field(component, 0, 0)});
    const char* psi[2] = {"psi electric", "psi magnetic"};
    for (int half = 0; half < 2; ++half) {
        const long offset = half * 2 * lanes;
        if (l.slab[0].planes())
            list.push_back({std::string(psi[half]) + " a", half, {l.slab[0].planes(), l.nb, l.blocks, 2 * lanes},
                            {l.nb * l.psi_row, l.psi_row, 4 * lanes, 1}, block_.a_psi.get() + offset});
        if (l.slab[1].planes())
            list.push_back({std::string(psi[half]) + " b", half, {l.na, l.slab[1].planes(), l.blocks, 2 * lanes},
                            {l.slab[1].planes() * l.psi_row, l.psi_row, 4 * lanes, 1},
                            block_.b_psi.get() + offset});
        if (l.c_psi_blocks)
            list.push_back({std::string(psi[half]) + " c", half, {l.na, l.nb, l.c_psi_blocks, 2 * lanes},
                            {l.plane_length, l.record_length, 4 * lanes, 1},
                            block_.records.get() + l.c_psi(0, 0) + offset});
    }
    return list;
}

template class Domain<float>;
template class Domain<double>;

}  // namespace nearfield
