// Fields that lie on the device in 16 bits each (stored.h), psi of the slabs along the rows between them as numbers; the
// host's mirror holds all of them as numbers.
#include <cmath>
#include <cstring>

#include "engine.hpp"

namespace nearfield::cuda {

using cell::Sixteen;

// In numbers, of all parts: two samples in 16 bits take the room of one.
template <class Real>
std::size_t CardEngine<Real>::length_on_device() const {
    return parts() * placed_.volume_length / (in_sixteen_bits() ? sizeof(Real) / sizeof(Sixteen) : 1);
}

template <class Real>
Scale CardEngine<Real>::scale(int half) const {
    if (!exponents_) return {};
    const int exponent = (*exponents_)[half];
    return {std::ldexp(1.0F, exponent), std::ldexp(1.0F, -exponent), lost_.data()};
}

template <class Real>
long CardEngine<Real>::lost() {
    long long found = 0;
    lost_.read(&found);
    return found + lost_on_host_;
}

// Calls `on_fields(half, in 16 bits, numbers, count)` and `on_psi(in 16 bits, numbers, bytes)` for each record of a
// plane, the planes of all parts counted through, ghosts among them.
template <class Real>
template <class OnFields, class OnPsi>
void CardEngine<Real>::each_record(const OnFields& on_fields, const OnPsi& on_psi, long plane) {
    const Layout &from = layout(), &to = placed_;
    const long psi = from.record_length - 6 * from.field_length;
    for (long row = 0; row < from.nb + 2; ++row) {
        Real* const numbers = mirror_.records.get() + plane * from.plane_length + row * from.record_length;
        const long place = row * to.record_length;
        for (int half = 0; half < 2; ++half)
            on_fields(half, place + half * 3 * to.field_length, numbers + half * 3 * from.field_length,
                      3 * from.field_length);
        on_psi(place + 6 * to.field_length, numbers + 6 * from.field_length, psi * long(sizeof(Real)));
    }
}

template <class Real>
void CardEngine<Real>::send_records() {
    if (!in_sixteen_bits()) return fields_.records.write(mirror_.records.get());
    if constexpr (std::is_same_v<Real, float>) {
        std::vector<Sixteen> stored(placed_.plane_length);
        for (long plane = 0; plane < parts() * (layout().na + 2); ++plane) {
            each_record(
                [&](int half, long at, const float* numbers, long count) {
                    const float up = scale(half).up;
                    for (long n = 0; n < count; ++n) {
                        bool fits = true;
                        stored[at + n].bits = cell::in_sixteen(numbers[n] * up, fits);
                        lost_on_host_ += !fits;
                    }
                },
                [&](long at, const float* numbers, long bytes) {
                    if (bytes) std::memcpy(stored.data() + at, numbers, bytes);
                },
                plane);
            device_->write(place(plane * placed_.plane_length), stored.data(), stored.size() * sizeof(Sixteen));
        }
    }
}

template <class Real>
void CardEngine<Real>::fetch_records() {
    if (!in_sixteen_bits()) return fields_.records.read(mirror_.records.get());
    if constexpr (std::is_same_v<Real, float>) {
        std::vector<Sixteen> stored(placed_.plane_length);
        for (long plane = 0; plane < parts() * (layout().na + 2); ++plane) {
            device_->read(stored.data(), place(plane * placed_.plane_length), stored.size() * sizeof(Sixteen));
            each_record(
                [&](int half, long at, float* numbers, long count) {
                    const float down = scale(half).down;
                    for (long n = 0; n < count; ++n) numbers[n] = cell::from_sixteen(stored[at + n].bits) * down;
                },
                [&](long at, float* numbers, long bytes) {
                    if (bytes) std::memcpy(numbers, stored.data() + at, bytes);
                },
                plane);
        }
    }
}

template class CardEngine<float>;
template class CardEngine<double>;

}  // namespace nearfield::cuda
