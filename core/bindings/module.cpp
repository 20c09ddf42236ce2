// The Python face of the core: nanobind only, no policy.
#include "machine/stopping.hpp"
#include "solver.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace nearfield {

// A method of the recorders, as one of the engine.
template <class Real, class Result, class... Arguments>
auto recorders(Result (Recorders<Real>::*method)(Arguments...)) {
    return [method](Solver<Real>& solver, Arguments... arguments) {
        return (solver.recorders().*method)(std::move(arguments)...);
    };
}
template <class Real, class Result, class... Arguments>
auto recorders(Result (Recorders<Real>::*method)(Arguments...) const) {
    return [method](Solver<Real>& solver, Arguments... arguments) {
        return (solver.recorders().*method)(std::move(arguments)...);
    };
}

template <class Real>
void bind(nb::module_& m, const char* name) {
    BoundPoles<Real>::bind(m, (std::string(name) + "Poles").c_str());
    using S = Solver<Real>;
    using R = Recorders<Real>;
    nb::class_<S>(m, name)
        .def(nb::init<std::array<long, 3>, std::array<std::array<long, 2>, 3>,
                      const std::array<std::array<double, 4>, 3>&, int, long, const std::string&, const AxisCuts&,
                      const Own&, int, std::vector<Processors>, const std::string&, std::vector<std::vector<int>>>(),
             "shape"_a, "slabs"_a, "seams"_a, "parts"_a, "threads"_a, "isa"_a, "cuts"_a, "own"_a, "weighed_along"_a,
             "processors"_a, "memory"_a, "nodes"_a)
        .def("set_profile", &S::set_profile)
        .def("set_planes", &S::set_planes)
        .def_prop_ro("poles", &S::poles, nb::rv_policy::reference_internal)
        .def("add_current", &S::add_current)
        .def("add_circuit", &S::add_circuit)
        .def("add_incident", &S::add_incident)
        .def("add_coupling", &S::add_coupling)
        .def("add_functional", recorders(&R::add_functional))
        .def("add_fourier", recorders(&R::add_fourier))
        .def("add_snapshot", recorders(&R::add_snapshot))
        .def("place_snapshots", recorders(&R::place_snapshots))
        .def("begin", &S::begin, "steps"_a, "electric"_a, "magnetic"_a, "phasors"_a, "waves"_a, "weigh"_a)
        .def("run", &S::run, "first"_a, "last"_a, "sides"_a.none(), "poll"_a.none(), "milliseconds"_a)
        .def("end", &S::end)
        .def("refreshed", &S::refreshed, "steps"_a)
        .def("circuit_states", &S::circuit_states)
        .def("set_circuit_states", &S::set_circuit_states, "which"_a, "states"_a)
        .def("pages", &S::pages, "sample"_a)
        .def("fourier", recorders(&R::fourier))
        .def("snapshot", recorders(&R::snapshot))
        .def("resume", &S::resume, "steps"_a)
        .def("set_fourier", recorders(&R::set_fourier))
        .def("set_snapshot", recorders(&R::set_snapshot))
        .def("states", [](nb::handle_t<S> self) { return S::states(self); })
        .def("set_tiling", &S::set_tiling, "depth"_a, "width"_a, "segment"_a = 0, "fetch"_a = true)
        .def("reset", &S::reset)
        .def_prop_ro("step", &S::step)
        .def("facts", &S::facts);
}

}  // namespace nearfield

void bind_cards(nb::module_& m), bind_devices(nb::module_& m), bind_elements(nb::module_& m),
    bind_incident(nb::module_& m), bind_machine(nb::module_& m), bind_means(nb::module_& m), bind_probe(nb::module_& m),
    bind_schedule(nb::module_& m), bind_solids(nb::module_& m),
    bind_stream(nb::module_& m);  // each in the file of its name

NB_MODULE(_core, m) {
    m.doc() = "Nearfield's core: rows, tiles and teams. Use nearfield.Simulation or nearfield.Solver instead.";
    nearfield::end_wanted = [] {
        const nb::gil_scoped_acquire acquire;
        return PyErr_CheckSignals() != 0;  // what a handler raised is what Python then raises
    };
    nb::register_exception_translator([](const std::exception_ptr& thrown, void*) {
        try {
            std::rethrow_exception(thrown);
        } catch (const nearfield::Stopped&) {
        }
    });
    m.def("isa_available", &nearfield::isa_available);
    m.def("isa_choose", &nearfield::isa_choose);
    bind_elements(m), bind_incident(m), bind_means(m), bind_solids(m);
    nb::module_ machine = m.def_submodule("machine", "Processors, pages, memory policy of this process.");
    bind_machine(machine), bind_probe(machine);
    nb::module_ schedule = m.def_submodule("schedule", "Loops of threads that stay on their NUMA nodes.");
    bind_schedule(schedule);
#ifdef __linux__
    nb::module_ stream = m.def_submodule("stream", "Rings of blocks in shared memory.");
    bind_stream(stream);
#endif
#ifdef NEARFIELD_DEBUG
    m.attr("debug") = true;
#else
    m.attr("debug") = false;
#endif
    nearfield::bind<float>(m, "Engine32");
    nearfield::bind<double>(m, "Engine64");
    bind_devices(m), bind_cards(m);
}
