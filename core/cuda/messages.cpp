// Halos of the engine on a device: states by their places, gathered into a row of values for a message and back.
#include "engine.hpp"

namespace nearfield::cuda {

template <class Real>
std::size_t CardEngine<Real>::add_message(const std::vector<long>& places) {
    messages_.push_back({Buffer<long>(*device_), Buffer<N>(*device_, places.size())});
    messages_.back().places.assign(places);
    return messages_.size() - 1;
}

template <class Real>
void CardEngine<Real>::exchange(const Message& message, bool out) {
    const long a_psi_from = fields_.records.size(), b_psi_from = a_psi_from + fields_.a_psi.size(),
               count = message.places.size();
    launch(halo, count,
           Halo<N>{fields_.records.data(), fields_.a_psi.data(), fields_.b_psi.data(), a_psi_from, b_psi_from,
                   message.values.data(), message.places.data(), count, out});
}

template <class Real>
void CardEngine<Real>::pack(std::size_t number, Real* values) {
    send();
    exchange(messages_.at(number), true);
    messages_[number].values.read(values);
}

template <class Real>
void CardEngine<Real>::unpack(std::size_t number, const Real* values) {
    send();
    messages_.at(number).values.write(values);
    exchange(messages_[number], false);
    device_is_newer_ = true;
}

// Both engines have a stream of their own, and neither overwrites a row of values that the other still reads.
template <class Real>
void CardEngine<Real>::take(std::size_t number, CardEngine& from, std::size_t packed) {
    const Buffer<N>& there = from.messages_.at(packed).values;
    const Message& here = messages_.at(number);
    if (here.values.size() != there.size()) throw std::invalid_argument("two messages are not of the same states");
    send(), from.send();
    from.exchange(from.messages_[packed], true);
    from.device_->wait();
    device_->copy(here.values.data(), there.data(), there.bytes());
    exchange(here, false);
    device_->wait();
    device_is_newer_ = true;
}

template <class Real>
void CardEngine<Real>::refreshed() {
    send();
    for (int half = 0; half < 2; ++half) close(half);
    remember();
    device_is_newer_ = true;
}

template class CardEngine<float>;
template class CardEngine<double>;

}  // namespace nearfield::cuda
