// Snapshots leave a device while it makes further steps, in parts that a pinned buffer holds.
#include <algorithm>

#include "engine.hpp"

namespace nearfield::cuda {

// Whether any is taken from one step on, before another.
template <class Real>
bool CardEngine<Real>::copies_are_due(long first, long last) const {
    return std::any_of(copies_.begin(), copies_.end(),
                       [=](const Copies<Real>& each) { return each.taken(last - 1) > each.taken(first - 1); });
}

// Snapshot `number` of this block of steps, whose launch came just before.
template <class Real>
void CardEngine<Real>::send_snapshot(std::size_t recorder, long number) {
    constexpr long most = Device::most_read_later / sizeof(N);
    const Copies<Real>& copies = copies_[recorder];
    const long samples = copies.box.samples();
    for (long first = 0; first < samples; first += most) {
        while (!device_->can_read_later()) receive_snapshot();
        const long count = std::min(most, samples - first);
        device_->read_later(copies.taken_in_block.data() + number * samples + first, count * sizeof(N));
        leaving_.push_back({recorder, number, first, count});
    }
}

// The oldest part that is on its way; with its last one a snapshot is whole.
template <class Real>
void CardEngine<Real>::receive_snapshot() {
    const Leaving part = leaving_.front();
    leaving_.pop_front();
    Copies<Real>& copies = copies_[part.recorder];
    arriving_.resize(copies.box.samples());
    device_->fetch(arriving_.data() + part.first);
    if (part.first + part.count == copies.box.samples()) copies.collect(part.number, arriving_.data());
}

template class CardEngine<float>;
template class CardEngine<double>;

}  // namespace nearfield::cuda
