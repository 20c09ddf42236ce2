// Which row operations act in which row.
#include <algorithm>
#include <map>

#include "engine.hpp"

namespace nearfield {

// Lists the operations of every row.
template <class Real>
void Engine<Real>::arrange() {
    if (arranged_ == owned_.size()) return;
    arranged_ = owned_.size();
    lists_.clear(), groups_.clear(), strides_.clear();
    std::map<Listing, std::uint32_t> known{{{}, 0}};
    groups_.push_back({});
    const Layout& l = block_.layout;
    for (int half = 0; half < 2; ++half) {
        for (const bool preceding : {false, true}) {
            auto& of_rows = (preceding ? preceding_ : operations_)[half];
            of_rows.clear();
            std::vector<Listing> of_row(l.rows());
            bool any = false;
            for (const auto& operation : owned_) {
                if (operation->component / 3 % 2 != half || operation->precedes() != preceding) continue;
                any = true;
                const RowSpan& span = operation->span;
                for (long i = span.a[0]; i < span.a[1]; ++i)
                    for (long j = span.b[0]; j < span.b[1]; ++j)
                        if (operation->acts_on(span.index(i, j))) of_row[l.row(i, j)].push_back(operation.get());
            }
            if (!preceding) take_singles(half, of_row);
            if (!any) continue;
            of_rows.resize(l.rows());
            for (long row = 0; row < l.rows(); ++row) {
                const auto [group, fresh] = known.try_emplace(std::move(of_row[row]), std::uint32_t(groups_.size()));
                if (fresh) groups_.push_back(list(group->first));
                of_rows[row] = group->second;
            }
        }
    }
}

// Leaves to the rows' programs what need not be called for: single samples of incident waves that come before all else.
template <class Real>
void Engine<Real>::take_singles(int half, std::vector<Listing>& of_row) {
    Palette<Real>& palette = half ? block_.magnetic : block_.electric;
    const Layout& l = block_.layout;
    palette.forget_taken();
    amounts_[half].clear();
    windowed_[half] = nullptr;
    const bool along_axis = std::any_of(owned_.begin(), owned_.end(), [&](const auto& operation) {
        const auto* const wave = dynamic_cast<const Incident<Real>*>(operation.get());
        return wave && wave->component / 3 == half && wave->taps == 1;
    });
    for (long i = 0; i < l.na; ++i)
        for (long j = 0; j < l.nb; ++j) {
            Listing& list = of_row[l.row(i, j)];
            std::vector<Taken> all;
            while (!list.empty()) {
                auto* const wave = dynamic_cast<Incident<Real>*>(list.front());
                if (!wave) break;
                const long number = wave->span.index(i, j);
                const bool windowed = !along_axis && all.empty() && (!windowed_[half] || windowed_[half] == wave);
                const std::vector<Taken> taken = windowed ? wave->windowed(number) : amounts_[half].of_row(*wave, number);
                if (taken.empty()) break;
                if (windowed) windowed_[half] = wave;
                all.insert(all.end(), taken.begin(), taken.end());
                list.erase(list.begin());
            }
            if (!all.empty()) palette.set_taken(l.row(i, j), all);
        }
}

// Imaginary parts take nothing: incident waves are real.
template <class Real>
void Engine<Real>::set_amounts(long steps) {
    for (int half = 0; half < 2; ++half) {
        amounts_[half].begin_block(steps);
        Incident<Real>* const wave = windowed_[half];
        heard_[half] = wave && wave->table ? wave : nullptr;
        update_[half] = (half ? rows_.magnetic : rows_.electric)[heard_[half] || amounts_[half].any()];
    }
}

// Adds the operations of a row to the lists.
template <class Real>
auto Engine<Real>::list(const Listing& wanted) -> Operations {
    Operations row{std::uint32_t(lists_.size()), std::uint32_t(wanted.size()), 0};
    for (RowOperation<Real>* operation : wanted) {
        const RowSpan& span = operation->span;
        const long component = block_.field(operation->component, 0, 0) - block_.record(0, 0, 0);
        lists_.push_back({operation, component, span.b[1] - span.b[0], -span.index(0, 0)});
        const auto known = std::find(strides_.begin(), strides_.end(), operation->stride());
        const std::size_t bit = std::min<std::size_t>(always, known - strides_.begin());
        if (known == strides_.end() && bit < always) strides_.push_back(operation->stride());
        row.strides |= 1u << bit;
    }
    return row;
}

#define NEARFIELD_INSTANTIATE(Real)         \
    template void Engine<Real>::arrange(); \
    template void Engine<Real>::set_amounts(long);
NEARFIELD_INSTANTIATE(float)
NEARFIELD_INSTANTIATE(double)

}  // namespace nearfield
