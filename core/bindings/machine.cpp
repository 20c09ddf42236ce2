// The Python face of processors and pages: binding of threads, memory policy, where pages lie.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cerrno>
#include <memory>
#include <stdexcept>
#include <system_error>

#include "machine/pages.hpp"
#include "machine/processors.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using namespace nearfield;

namespace {

MemoryPolicy policy_named(const std::string& name) {
    if (name == "off") return MemoryPolicy::off;
    if (name == "first-touch") return MemoryPolicy::first_touch;
    if (name == "bind") return MemoryPolicy::bind;
    if (name == "interleave") return MemoryPolicy::interleave;
    throw std::invalid_argument("no memory policy " + name);
}

// A policy of the calling thread as a `with` statement wants it.
struct Policy {
    MemoryPolicy policy;
    std::vector<int> nodes;
    std::unique_ptr<ThreadPolicy> active;
};

std::string refused(const std::string& policy, const std::vector<int>& nodes) {
    return policy_refused(policy_named(policy), nodes);
}

nb::dict histogram(std::size_t address, std::size_t bytes, long sample) {
    const PageCounts found = pages_by_node(reinterpret_cast<const void*>(address), bytes, sample);
    nb::dict d;
    d["by_node"] = found.by_node;
    d["absent"] = found.absent;
    d["unknown"] = found.unknown;
    d["pages"] = found.pages;
    return d;
}

}  // namespace

// What the system refuses is an OSError with its number.
void bind_machine(nb::module_& m) {
    nb::register_exception_translator([](const std::exception_ptr& thrown, void*) {
        try {
            std::rethrow_exception(thrown);
        } catch (const std::system_error& error) {
            PyErr_SetObject(PyExc_OSError, nb::make_tuple(error.code().value(), error.what()).ptr());
        }
    });
    m.def("bitmap_of", &bitmap_of, "numbers"_a);
    m.def("numbers_in", &numbers_in, "bitmap"_a);
    m.def("bind_this_thread", &bind_this_thread, "processors"_a);
    m.def("allowed_processors", &allowed_processors, "thread_id"_a = 0);
    m.def("current_processor", &current_processor);
    m.def("node_of_processor", &node_of_processor, "processor"_a);
    m.def("policy_refused", &refused, "policy"_a, "nodes"_a);
    m.def("pages_by_node", &histogram, "address"_a, "bytes"_a, "sample"_a = 1000000);
    nb::class_<Policy>(m, "ThreadPolicy")
        .def(
            "__init__",
            [](Policy* self, const std::string& policy, std::vector<int> nodes) {
                new (self) Policy{policy_named(policy), std::move(nodes), nullptr};
            },
            "policy"_a, "nodes"_a = std::vector<int>{})
        .def("__enter__", [](Policy& self) { self.active = std::make_unique<ThreadPolicy>(self.policy, self.nodes); })
        .def(
            "__exit__", [](Policy& self, nb::handle, nb::handle, nb::handle) { self.active.reset(); }, "kind"_a.none(),
            "error"_a.none(), "trace"_a.none());
}
