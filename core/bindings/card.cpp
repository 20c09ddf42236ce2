// The engine on a device in the core's module.
#include "card.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace nearfield {

template <class Real>
void bind_card(nb::module_& m, const char* name) {
    CardPoles<Real>::bind(m, (std::string(name) + "Poles").c_str());
    using C = Card<Real>;
    nb::class_<C>(m, name)
        .def(nb::init<std::array<long, 3>, std::array<std::array<long, 2>, 3>,
                      const std::array<std::array<double, 4>, 3>&, int, int, std::shared_ptr<cuda::Device>,
                      std::optional<std::array<int, 2>>>(),
             "shape"_a, "slabs"_a, "seams"_a, "parts"_a, "weighed_along"_a, "device"_a, "exponents"_a = nb::none())
        .def("set_passes", &C::set_passes)
        .def("lost", &C::lost)
        .def("set_profile", &C::set_profile)
        .def("set_planes", &C::set_planes)
        .def_prop_ro("poles", &C::poles, nb::rv_policy::reference_internal)
        .def("add_current", &C::add_current)
        .def("add_circuit", &C::add_circuit)
        .def("add_incident", &C::add_incident)
        .def("add_coupling", &C::add_coupling)
        .def("add_functional", &C::add_functional)
        .def("add_fourier", &C::add_fourier)
        .def("add_snapshot", &C::add_snapshot)
        .def("place_snapshots", &C::place_snapshots)
        .def("begin", &C::begin, "steps"_a, "electric"_a, "magnetic"_a, "phasors"_a, "waves"_a, "weigh"_a)
        .def("run", &C::run, "poll"_a.none(), "milliseconds"_a, "last"_a = -1)
        .def("set_own", &C::set_own)
        .def("add_message", &C::add_message)
        .def("pack", &C::pack)
        .def("unpack", &C::unpack)
        .def("gather", &C::gather, "message"_a)
        .def("scatter", &C::scatter, "message"_a)
        .def("wait", &C::wait)
        .def("row", &C::row, "message"_a)
        .def("take", &C::take, "message"_a, "other"_a, "packed"_a, "gathered"_a)
        .def("refreshed", &C::refreshed)
        .def("mirrors", &C::mirrors)
        .def("end", &C::end)
        .def("circuit_states", &C::circuit_states)
        .def("set_circuit_states", &C::set_circuit_states, "which"_a, "states"_a)
        .def("fourier", &C::fourier)
        .def("snapshot", &C::snapshot)
        .def("resume", &C::resume, "steps"_a)
        .def("set_fourier", &C::set_fourier)
        .def("set_snapshot", &C::set_snapshot)
        .def("states", [](nb::handle_t<C> self) { return C::states(self); })
        .def("reset", &C::reset)
        .def_prop_ro("step", &C::step)
        .def_prop_ro("coefficient_bytes", &C::coefficient_bytes)
        .def("facts", &C::facts);
}

}  // namespace nearfield

void bind_cards(nb::module_& m) {
    nearfield::bind_card<float>(m, "Card32");
    nearfield::bind_card<double>(m, "Card64");
}
