// The poles of an engine as Python fills, reads and exchanges them.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "engine.hpp"
#include "operations/poles.hpp"
#include "recorded.hpp"

namespace nearfield {

template <class Real>
class BoundPoles {
public:
    using Values = nb::ndarray<Real, nb::numpy, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

    explicit BoundPoles(Engine<Real>& engine) : engine_(engine) {}

    // A dispersive medium: recursions of first order, (n, 2), and of second, (n, 4). All before the first planes.
    void add_medium(In<Real, nb::ndim<2>> firsts, In<Real, nb::ndim<2>> seconds) {
        if (firsts.shape(1) != 2 || seconds.shape(1) != 4)
            throw std::invalid_argument("recursions have two or four numbers");
        PoleMedium<Real> medium{long(firsts.shape(0)), long(seconds.shape(0)), {}};
        medium.numbers.assign(firsts.data(), firsts.data() + firsts.size());
        medium.numbers.insert(medium.numbers.end(), seconds.data(), seconds.data() + seconds.size());
        media_.push_back(std::move(medium));
    }
    // What these media do to the samples of planes [first, last), (stay and weight, media, 3, nb, nc).
    void set_planes(bool magnetic, long first, long last, const std::vector<long>& media, In<Real, nb::ndim<5>> cells) {
        const Layout& l = engine_.block().layout;
        const std::size_t wanted[5] = {2, media.size(), 3, std::size_t(l.nb), std::size_t(l.nc)};
        if (!std::equal(wanted, wanted + 5, cells.shape_ptr()))
            throw std::invalid_argument("what media do to planes must be (2, media, 3, nb, nc)");
        if (first < 0 || last > l.na) throw std::invalid_argument("planes lie outside the domain");
        for (const long medium : media) media_.at(medium);
        for (int part = 0; part < engine_.block().parts; ++part) {
            auto& made = fresh_[2 * part + magnetic];
            if (!made) made = std::make_unique<Poles<Real>>(6 * part + 3 * magnetic, l, media_, engine_.rows());
            made->set_planes(first, last, media, cells.data(), cells.data() + cells.size() / 2);
        }
    }
    // After the last planes.
    void finish() {
        for (auto& made : fresh_)
            if (made && made->finish()) {
                made_.push_back(made.get());
                engine_.operations().add(std::move(made));
            }
    }

    // States of a medium's poles in one component over a box, (states, ni, nj, nk), zero where it is not.
    nb::object states(int component, long medium, std::array<long, 3> lower, std::array<long, 3> upper) const {
        const long ni = upper[0] - lower[0], nj = upper[1] - lower[1], nk = upper[2] - lower[2],
                   states = media_.at(medium).states();
        std::vector<Real> out(states * ni * nj * nk);
        visit(component, medium, lower, upper, [&](long i, long j, long k, Real* state) {
            for (long n = 0; n < states; ++n)
                out[((n * ni + i - lower[0]) * nj + j - lower[1]) * nk + k - lower[2]] = state[n * lanes];
        });
        return owned(std::move(out), {std::size_t(states), std::size_t(ni), std::size_t(nj), std::size_t(nk)});
    }
    void set_states(int component, long medium, std::array<long, 3> lower, In<Real, nb::ndim<4>> values) {
        const long states = media_.at(medium).states();
        if (long(values.shape(0)) != states) throw std::invalid_argument("these states are not of this medium");
        std::array<long, 3> upper;
        for (int n = 0; n < 3; ++n) upper[n] = lower[n] + long(values.shape(n + 1));
        visit(component, medium, lower, upper, [&](long i, long j, long k, Real* state) {
            for (long n = 0; n < states; ++n) state[n * lanes] = values(n, i - lower[0], j - lower[1], k - lower[2]);
        });
    }
    // The smallest box about a medium's samples of one component; (0, 0, 0) twice where it has none.
    std::array<std::array<long, 3>, 2> box(int component, long medium) const {
        const Layout& l = engine_.block().layout;
        std::array<long, 3> lower{l.na, l.nb, l.nc}, upper{};
        visit(component, medium, {0, 0, 0}, lower, [&](long i, long j, long k, Real*) {
            const long at[3] = {i, j, k};
            for (int n = 0; n < 3; ++n) lower[n] = std::min(lower[n], at[n]), upper[n] = std::max(upper[n], at[n] + 1);
        });
        if (!upper[2]) lower = upper;
        return {lower, upper};
    }
    // All states of poles in a box, one after the other, as they are exchanged; how many there are.
    long count(std::array<long, 3> lower, std::array<long, 3> upper) const {
        long count = 0;
        exchange(lower, upper, [&](Real&) { ++count; });
        return count;
    }
    void pack(std::array<long, 3> lower, std::array<long, 3> upper, Values out) const {
        Real* p = out.data();
        exchange(lower, upper, [&](Real& state) { *p++ = state; });
    }
    void unpack(std::array<long, 3> lower, std::array<long, 3> upper, In<Real, nb::ndim<1>> values) {
        const Real* p = values.data();
        exchange(lower, upper, [&](Real& state) { state = *p++; });
    }
    std::size_t bytes() const {
        std::size_t sum = 0;
        for (const Poles<Real>* poles : made_) sum += poles->bytes();
        return sum;
    }

    static void bind(nb::module_& m, const char* name) {
        using B = BoundPoles;
        nb::class_<B>(m, name)
            .def("add_medium", &B::add_medium)
            .def("set_planes", &B::set_planes)
            .def("finish", &B::finish)
            .def("states", &B::states)
            .def("set_states", &B::set_states)
            .def("box", &B::box)
            .def("count", &B::count)
            .def("pack", &B::pack)
            .def("unpack", &B::unpack)
            .def("bytes", &B::bytes);
    }

private:
    template <class F>
    void visit(int component, long medium, const std::array<long, 3>& lower, const std::array<long, 3>& upper,
               F&& f) const {
        for (Poles<Real>* poles : made_)
            if (poles->component == component / 3 * 3)
                poles->visit(component % 3, medium,
                             {Extent{lower[0], upper[0]}, Extent{lower[1], upper[1]}, Extent{lower[2], upper[2]}}, f);
    }
    template <class F>
    void exchange(const std::array<long, 3>& lower, const std::array<long, 3>& upper, F&& f) const {
        for (int component = 0; component < 6 * engine_.block().parts; ++component)
            for (long medium = 0; medium < long(media_.size()); ++medium)
                visit(component, medium, lower, upper, [&](long, long, long, Real* state) {
                    for (long n = 0; n < media_[medium].states(); ++n) f(state[n * lanes]);
                });
    }

    Engine<Real>& engine_;
    std::vector<PoleMedium<Real>> media_;
    std::array<std::unique_ptr<Poles<Real>>, 4> fresh_;  // that are still to be finished, by half step and part
    std::vector<Poles<Real>*> made_;
};

}  // namespace nearfield
