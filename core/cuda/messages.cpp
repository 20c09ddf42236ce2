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
void CardEngine<Real>::gather(std::size_t number) {
    send();
    exchange(messages_.at(number), true);
}

template <class Real>
void CardEngine<Real>::scatter(std::size_t number) {
    send();
    exchange(messages_.at(number), false);
    device_is_newer_ = true;
}

template <class Real>
void CardEngine<Real>::pack(std::size_t number, Real* values) {
    gather(number);
    messages_[number].values.read(values);
}

template <class Real>
void CardEngine<Real>::unpack(std::size_t number, const Real* values) {
    messages_.at(number).values.write(values);
    scatter(number);
}

// Both engines have a stream of their own, and neither overwrites a row of values that the other still reads.
template <class Real>
void CardEngine<Real>::take(std::size_t number, CardEngine& from, std::size_t packed, bool gathered) {
    const Buffer<N>& there = from.messages_.at(packed).values;
    const Buffer<N>& here = messages_.at(number).values;
    if (here.size() != there.size()) throw std::invalid_argument("two messages are not of the same states");
    if (!gathered) {
        from.gather(packed);
        from.wait();
    }
    device_->copy(here.data(), there.data(), there.bytes());
    scatter(number);
    wait();
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
