// The poles of an engine on a device as Python fills and reads them: the same methods as the CPU's (bound_poles.hpp),
// but for those of messages.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <array>
#include <vector>

#include "cuda/engine.hpp"
#include "recorded.hpp"

namespace nearfield {

template <class Real>
class CardPoles {
public:
    explicit CardPoles(cuda::CardEngine<Real>& engine) : engine_(engine) {}

    // A dispersive medium: recursions of first order, (n, 2), and of second, (n, 4). All before the first planes.
    void add_medium(In<Real, nb::ndim<2>> firsts, In<Real, nb::ndim<2>> seconds) {
        if (firsts.shape(1) != 2 || seconds.shape(1) != 4)
            throw std::invalid_argument("recursions have two or four numbers");
        PoleMedium<Real> medium{long(firsts.shape(0)), long(seconds.shape(0)), {}};
        medium.numbers.assign(firsts.data(), firsts.data() + firsts.size());
        medium.numbers.insert(medium.numbers.end(), seconds.data(), seconds.data() + seconds.size());
        engine_.add_medium(std::move(medium));
    }
    // What these media do to the samples of planes [first, last), (stay and weight, media, 3, nb, nc).
    void set_planes(bool magnetic, long first, long last, const std::vector<long>& media, In<Real, nb::ndim<5>> cells) {
        const Layout& l = engine_.layout();
        const std::size_t wanted[5] = {2, media.size(), 3, std::size_t(l.nb), std::size_t(l.nc)};
        if (!std::equal(wanted, wanted + 5, cells.shape_ptr()))
            throw std::invalid_argument("what media do to planes must be (2, media, 3, nb, nc)");
        if (first < 0 || last > l.na) throw std::invalid_argument("planes lie outside the domain");
        for (const long medium : media) engine_.medium(medium);
        engine_.set_poles(magnetic, first, last, media, cells.data(), cells.data() + cells.size() / 2);
    }
    void finish() { engine_.finish_poles(); }

    // States of a medium's poles in one component over a box, (states, ni, nj, nk), zero where it is not.
    nb::object states(int component, long medium, std::array<long, 3> lower, std::array<long, 3> upper) {
        const long ni = upper[0] - lower[0], nj = upper[1] - lower[1], nk = upper[2] - lower[2],
                   states = engine_.medium(medium).states();
        std::vector<Real> out(states * ni * nj * nk);
        visit(component, medium, lower, upper, [&](long i, long j, long k, Real* state) {
            for (long n = 0; n < states; ++n)
                out[((n * ni + i - lower[0]) * nj + j - lower[1]) * nk + k - lower[2]] = state[n * lanes];
        });
        return owned(std::move(out), {std::size_t(states), std::size_t(ni), std::size_t(nj), std::size_t(nk)});
    }
    void set_states(int component, long medium, std::array<long, 3> lower, In<Real, nb::ndim<4>> values) {
        const long states = engine_.medium(medium).states();
        if (long(values.shape(0)) != states) throw std::invalid_argument("these states are not of this medium");
        std::array<long, 3> upper;
        for (int n = 0; n < 3; ++n) upper[n] = lower[n] + long(values.shape(n + 1));
        visit(component, medium, lower, upper, [&](long i, long j, long k, Real* state) {
            for (long n = 0; n < states; ++n) state[n * lanes] = values(n, i - lower[0], j - lower[1], k - lower[2]);
        });
    }
    // The smallest box about a medium's samples of one component; (0, 0, 0) twice where it has none.
    std::array<std::array<long, 3>, 2> box(int component, long medium) {
        const Layout& l = engine_.layout();
        const std::array<long, 3> all{l.na, l.nb, l.nc};
        std::array<long, 3> lower = all, upper{};
        visit(component, medium, {0, 0, 0}, all, [&](long i, long j, long k, Real*) {
            const long at[3] = {i, j, k};
            for (int n = 0; n < 3; ++n) lower[n] = std::min(lower[n], at[n]), upper[n] = std::max(upper[n], at[n] + 1);
        });
        if (!upper[2]) lower = upper;
        return {lower, upper};
    }

    static void bind(nb::module_& m, const char* name) {
        using P = CardPoles;
        nb::class_<P>(m, name)
            .def("add_medium", &P::add_medium)
            .def("set_planes", &P::set_planes)
            .def("finish", &P::finish)
            .def("states", &P::states)
            .def("set_states", &P::set_states)
            .def("box", &P::box);
    }

private:
    template <class F>
    void visit(int component, long medium, const std::array<long, 3>& lower, const std::array<long, 3>& upper, F&& f) {
        engine_.states();  // the host's are up to date, and sent before the next step
        for (auto* poles : engine_.poles())
            if (poles->component() == component / 3 * 3) poles->visit(component % 3, medium, lower, upper, f);
    }

    cuda::CardEngine<Real>& engine_;
};

}  // namespace nearfield
