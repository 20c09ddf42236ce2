// The poles of an engine on a device as Python fills, reads and exchanges them: the same methods as the CPU's
// (bound_poles.hpp).
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <array>
#include <vector>

#include "cuda/engine.hpp"
#include "pole_arrays.hpp"

namespace nearfield {

template <class Real>
class CardPoles {
public:
    using Values = nb::ndarray<Real, nb::numpy, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

    explicit CardPoles(cuda::CardEngine<Real>& engine) : engine_(engine) {}

    // All media before the first planes.
    void add_medium(In<Real, nb::ndim<2>> firsts, In<Real, nb::ndim<2>> seconds) {
        engine_.add_medium(pole_medium<Real>(firsts, seconds));
    }
    void set_planes(bool magnetic, long first, long last, const std::vector<long>& media, In<Real, nb::ndim<5>> cells) {
        check_pole_planes<Real>(engine_.layout(), first, last, media.size(), cells);
        for (const long medium : media) engine_.medium(medium);
        engine_.set_poles(magnetic, first, last, media, cells.data(), cells.data() + cells.size() / 2);
    }
    void finish() { engine_.finish_poles(); }

    nb::object states(int component, long medium, Corner lower, Corner upper) {
        return pole_states<Real>(engine_.medium(medium).states(), lower, upper, visitor(component, medium));
    }
    void set_states(int component, long medium, Corner lower, In<Real, nb::ndim<4>> values) {
        set_pole_states<Real>(engine_.medium(medium).states(), lower, values, visitor(component, medium));
    }
    std::array<Corner, 2> box(int component, long medium) {
        return pole_box<Real>(engine_.layout(), visitor(component, medium));
    }

    long count(Corner lower, Corner upper) {
        long count = 0;
        exchange(lower, upper, [&](Real&) { ++count; });
        return count;
    }
    void pack(Corner lower, Corner upper, Values out) {
        Real* p = out.data();
        exchange(lower, upper, [&](Real& state) { *p++ = state; });
    }
    void unpack(Corner lower, Corner upper, In<Real, nb::ndim<1>> values) {
        const Real* p = values.data();
        exchange(lower, upper, [&](Real& state) { state = *p++; });
    }

    static void bind(nb::module_& m, const char* name) {
        using P = CardPoles;
        nb::class_<P>(m, name)
            .def("add_medium", &P::add_medium)
            .def("set_planes", &P::set_planes)
            .def("finish", &P::finish)
            .def("states", &P::states)
            .def("set_states", &P::set_states)
            .def("box", &P::box)
            .def("count", &P::count)
            .def("pack", &P::pack)
            .def("unpack", &P::unpack);
    }

private:
    template <class F>
    void exchange(const Corner& lower, const Corner& upper, F&& f) {
        exchange_poles<Real>(
            6 * engine_.parts(), engine_.media(), lower, upper,
            [this](int component, long medium) { return visitor(component, medium); },
            [this](long medium) { return engine_.medium(medium).states(); }, f);
    }
    auto visitor(int component, long medium) {
        return [this, component, medium](const Corner& lower, const Corner& upper, auto&& f) {
            engine_.states();  // the host's are up to date, and sent before the next step
            for (auto* poles : engine_.poles())
                if (poles->component() == component / 3 * 3) poles->visit(component % 3, medium, lower, upper, f);
        };
    }

    cuda::CardEngine<Real>& engine_;
};

}  // namespace nearfield
