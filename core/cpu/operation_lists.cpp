#include "operation_lists.hpp"

#include <algorithm>
#include <map>

namespace nearfield {

template <class Real>
void OperationLists<Real>::arrange(Block<Real>& block) {
    if (arranged_ == owned_.size()) return;
    arranged_ = owned_.size();
    lists_.clear(), groups_.clear(), strides_.clear();
    std::map<Listing, std::uint32_t> known{{{}, 0}};
    groups_.push_back({});
    const Layout& l = block.layout;
    for (int half = 0; half < 2; ++half) {
        for (const bool preceding : {false, true}) {
            auto& of_rows = preceding ? halves_[half].preceding : halves_[half].following;
            of_rows.clear();
            std::vector<Listing> of_row(l.rows());
            const bool any = collect(l, half, preceding, of_row);
            if (!preceding) take_singles(block, half, of_row);
            if (!any) continue;
            of_rows.resize(l.rows());
            for (long row = 0; row < l.rows(); ++row) {
                const auto [group, fresh] = known.try_emplace(std::move(of_row[row]), std::uint32_t(groups_.size()));
                if (fresh) groups_.push_back(list(block, group->first));
                of_rows[row] = group->second;
            }
        }
    }
}

// Whether there are any such operations at all.
template <class Real>
bool OperationLists<Real>::collect(const Layout& l, int half, bool preceding, std::vector<Listing>& of_row) const {
    bool any = false;
    for (std::uint32_t n = 0; n < owned_.size(); ++n) {
        const RowOperation<Real>& operation = *owned_[n].operation;
        if (operation.component / 3 % 2 != half || operation.precedes() != preceding) continue;
        any = true;
        const RowSpan& span = operation.span;
        for (long i = span.a[0]; i < span.a[1]; ++i)
            for (long j = span.b[0]; j < span.b[1]; ++j)
                if (operation.acts_on(span.index(i, j))) of_row[l.row(i, j)].push_back(n);
    }
    return any;
}

// Leaves to the rows' programs what need not be called for: single samples of incident waves that come before all else.
template <class Real>
void OperationLists<Real>::take_singles(Block<Real>& block, int half, std::vector<Listing>& of_row) {
    Palette<Real>& palette = half ? block.magnetic : block.electric;
    Amounts<Real>& amounts = halves_[half].amounts;
    const Layout& l = block.layout;
    palette.forget_taken();
    amounts.clear();
    const bool along_axis = std::any_of(owned_.begin(), owned_.end(), [&](const Owned& owned) {
        return owned.wave && owned.wave->component / 3 == half && owned.wave->taps == 1;
    });
    for (long i = 0; i < l.na; ++i)
        for (long j = 0; j < l.nb; ++j) {
            Listing& list = of_row[l.row(i, j)];
            std::vector<Taken> all;
            while (!list.empty()) {
                Incident<Real>* const wave = owned_[list.front()].wave;
                if (!wave) break;
                const long number = wave->span.index(i, j);
                const bool windowed = !along_axis && all.empty() && amounts.may_window(wave);
                const std::vector<Taken> taken =
                    windowed ? amounts.of_window(*wave, number) : amounts.of_row(*wave, number);
                if (taken.empty()) break;
                all.insert(all.end(), taken.begin(), taken.end());
                list.erase(list.begin());
            }
            if (!all.empty()) palette.set_taken(l.row(i, j), all);
        }
}

// Adds the operations of a row to the lists.
template <class Real>
auto OperationLists<Real>::list(Block<Real>& block, const Listing& wanted) -> Group {
    Group row{std::uint32_t(lists_.size()), std::uint32_t(wanted.size()), 0};
    for (const std::uint32_t number : wanted) {
        RowOperation<Real>* const operation = owned_[number].operation.get();
        const RowSpan& span = operation->span;
        const long component = block.field(operation->component, 0, 0) - block.record(0, 0, 0);
        lists_.push_back({operation, component, span.b[1] - span.b[0], -span.index(0, 0)});
        const auto known = std::find(strides_.begin(), strides_.end(), operation->stride());
        const std::size_t bit = std::min<std::size_t>(always, known - strides_.begin());
        if (known == strides_.end() && bit < always) strides_.push_back(operation->stride());
        row.strides |= 1u << bit;
    }
    return row;
}

template <class Real>
void OperationLists<Real>::begin_block(Block<Real>& block, long first, long steps, const Tables<Real>& tables) {
    tables_ = tables;
    due_.assign(steps, 1u << always);
    for (long n = 0; n < steps; ++n)
        for (std::size_t bit = 0; bit < strides_.size(); ++bit)
            if ((first + n) % strides_[bit] == 0) due_[n] |= 1u << bit;
    for (const Owned& owned : owned_) {
        RowOperation<Real>& operation = *owned.operation;
        operation.begin_block(block.field(operation.component, operation.span.a[0], operation.span.b[0]), first, steps);
    }
    for (Half& half : halves_) half.amounts.begin_block(steps);
}

template <class Real>
void OperationLists<Real>::expect(long steps) {
    for (const Owned& owned : owned_) owned.operation->expect(steps);
}

template <class Real>
void OperationLists<Real>::refresh(Block<Real>& block) {
    for (const Owned& owned : owned_) {
        RowOperation<Real>& operation = *owned.operation;
        operation.refresh(block.field(operation.component, operation.span.a[0], operation.span.b[0]));
    }
}

template <class Real>
void OperationLists<Real>::reset() {
    for (const Owned& owned : owned_) owned.operation->reset();
}

template class OperationLists<float>;
template class OperationLists<double>;

}  // namespace nearfield
