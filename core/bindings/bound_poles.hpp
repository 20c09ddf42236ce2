// The poles of an engine as Python fills, reads and exchanges them.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <memory>
#include <vector>

#include "engine.hpp"
#include "pole_arrays.hpp"

namespace nearfield {

template <class Real>
class BoundPoles {
public:
    using Values = nb::ndarray<Real, nb::numpy, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

    explicit BoundPoles(Engine<Real>& engine) : engine_(engine) {}

    // All media before the first planes.
    void add_medium(In<Real, nb::ndim<2>> firsts, In<Real, nb::ndim<2>> seconds) {
        media_.push_back(pole_medium<Real>(firsts, seconds));
    }
    void set_planes(bool magnetic, long first, long last, const std::vector<long>& media, In<Real, nb::ndim<5>> cells) {
        const Layout& l = engine_.block().layout;
        check_pole_planes<Real>(l, first, last, media.size(), cells);
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

    nb::object states(int component, long medium, Corner lower, Corner upper) const {
        return pole_states<Real>(media_.at(medium).states(), lower, upper, visitor(component, medium));
    }
    void set_states(int component, long medium, Corner lower, In<Real, nb::ndim<4>> values) {
        set_pole_states<Real>(media_.at(medium).states(), lower, values, visitor(component, medium));
    }
    std::array<Corner, 2> box(int component, long medium) const {
        return pole_box<Real>(engine_.block().layout, visitor(component, medium));
    }
    // All states of poles in a box, one after the other, as they are exchanged; how many there are.
    long count(Corner lower, Corner upper) const {
        long count = 0;
        exchange(lower, upper, [&](Real&) { ++count; });
        return count;
    }
    void pack(Corner lower, Corner upper, Values out) const {
        Real* p = out.data();
        exchange(lower, upper, [&](Real& state) { *p++ = state; });
    }
    void unpack(Corner lower, Corner upper, In<Real, nb::ndim<1>> values) {
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
    auto visitor(int component, long medium) const {
        return [this, component, medium](const Corner& lower, const Corner& upper, auto&& f) {
            for (Poles<Real>* poles : made_)
                if (poles->component == component / 3 * 3)
                    poles->visit(component % 3, medium,
                                 {Extent{lower[0], upper[0]}, Extent{lower[1], upper[1]}, Extent{lower[2], upper[2]}},
                                 f);
        };
    }
    template <class F>
    void exchange(const Corner& lower, const Corner& upper, F&& f) const {
        exchange_poles<Real>(
            6 * engine_.block().parts, media_.size(), lower, upper,
            [this](int component, long medium) { return visitor(component, medium); },
            [this](long medium) { return media_[medium].states(); }, f);
    }

    Engine<Real>& engine_;
    std::vector<PoleMedium<Real>> media_;
    std::array<std::unique_ptr<Poles<Real>>, 4> fresh_;  // that are still to be finished, by half step and part
    std::vector<Poles<Real>*> made_;
};

}  // namespace nearfield
