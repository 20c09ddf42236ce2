// Media with poles and their states as Python's arrays, for any engine whose `visit` calls f(i, j, k, states) for the
// samples of a component and medium in a box; their states are 16 apart.
#pragma once

#include <algorithm>
#include <array>
#include <stdexcept>
#include <vector>

#include "cpu/operations/poles.hpp"
#include "recorded.hpp"

namespace nearfield {

using Corner = std::array<long, 3>;

// A dispersive medium: recursions of first order, (n, 2), and of second, (n, 4).
template <class Real>
PoleMedium<Real> pole_medium(const In<Real, nb::ndim<2>>& firsts, const In<Real, nb::ndim<2>>& seconds) {
    if (firsts.shape(1) != 2 || seconds.shape(1) != 4)
        throw std::invalid_argument("recursions have two or four numbers");
    PoleMedium<Real> medium{long(firsts.shape(0)), long(seconds.shape(0)), {}};
    medium.numbers.assign(firsts.data(), firsts.data() + firsts.size());
    medium.numbers.insert(medium.numbers.end(), seconds.data(), seconds.data() + seconds.size());
    return medium;
}

// Planes [first, last) of so many media, (stay and weight, media, 3, nb, nc).
template <class Real>
void check_pole_planes(const Layout& l, long first, long last, std::size_t media, const In<Real, nb::ndim<5>>& cells) {
    const std::size_t wanted[5] = {2, media, 3, std::size_t(l.nb), std::size_t(l.nc)};
    if (!std::equal(wanted, wanted + 5, cells.shape_ptr()))
        throw std::invalid_argument("what media do to planes must be (2, media, 3, nb, nc)");
    if (first < 0 || last > l.na) throw std::invalid_argument("planes lie outside the domain");
}

// So many states a sample over a box, (states, ni, nj, nk), zero where the medium is not.
template <class Real, class Visit>
nb::object pole_states(long states, const Corner& lower, const Corner& upper, Visit&& visit) {
    const long ni = upper[0] - lower[0], nj = upper[1] - lower[1], nk = upper[2] - lower[2];
    std::vector<Real> out(states * ni * nj * nk);
    visit(lower, upper, [&](long i, long j, long k, Real* state) {
        for (long n = 0; n < states; ++n)
            out[((n * ni + i - lower[0]) * nj + j - lower[1]) * nk + k - lower[2]] = state[n * lanes];
    });
    return owned(std::move(out), {std::size_t(states), std::size_t(ni), std::size_t(nj), std::size_t(nk)});
}

template <class Real, class Visit>
void set_pole_states(long states, const Corner& lower, const In<Real, nb::ndim<4>>& values, Visit&& visit) {
    if (long(values.shape(0)) != states) throw std::invalid_argument("these states are not of this medium");
    Corner upper;
    for (int n = 0; n < 3; ++n) upper[n] = lower[n] + long(values.shape(n + 1));
    visit(lower, upper, [&](long i, long j, long k, Real* state) {
        for (long n = 0; n < states; ++n) state[n * lanes] = values(n, i - lower[0], j - lower[1], k - lower[2]);
    });
}

// Calls f(state) for all states of poles in a box, one after the other, as they are exchanged: component by component,
// medium by medium, sample by sample. `visitor(component, medium)`, `states(medium)`: how many each sample has.
template <class Real, class Visitor, class States, class F>
void exchange_poles(int components, long media, const Corner& lower, const Corner& upper, Visitor&& visitor,
                    States&& states, F&& f) {
    for (int component = 0; component < components; ++component)
        for (long medium = 0; medium < media; ++medium)
            visitor(component, medium)(lower, upper, [&](long, long, long, Real* state) {
                for (long n = 0; n < states(medium); ++n) f(state[n * lanes]);
            });
}

// The smallest box about the samples; (0, 0, 0) twice where there is none.
template <class Real, class Visit>
std::array<Corner, 2> pole_box(const Layout& l, Visit&& visit) {
    const Corner all{l.na, l.nb, l.nc};
    Corner lower = all, upper{};
    visit(Corner{}, all, [&](long i, long j, long k, Real*) {
        const long at[3] = {i, j, k};
        for (int n = 0; n < 3; ++n) lower[n] = std::min(lower[n], at[n]), upper[n] = std::max(upper[n], at[n] + 1);
    });
    if (!upper[2]) lower = upper;
    return {lower, upper};
}

}  // namespace nearfield
