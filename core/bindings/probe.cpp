// The Python face of the memory probe.
#include <nanobind/nanobind.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include "machine/probe.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using namespace nearfield;

namespace {

using Given = std::pair<std::vector<int>, int>;  // processors, node

MemoryWorker worker(const Given& given) { return {given.first, given.second}; }

std::vector<MemoryWorker> workers(const std::vector<Given>& given) {
    std::vector<MemoryWorker> found;
    for (const Given& each : given) found.push_back(worker(each));
    return found;
}

}  // namespace

// Workers are (processors, node), node -1: where the thread touches first.
void bind_probe(nb::module_& m) {
    m.def(
        "stream_seconds",
        [](const std::vector<Given>& given, std::size_t elements, int passes) {
            const nb::gil_scoped_release release;
            return stream_seconds(workers(given), elements, passes);
        },
        "workers"_a, "elements"_a, "passes"_a);
    m.def(
        "read_seconds",
        [](const std::vector<Given>& given, std::size_t bytes, int passes) {
            const nb::gil_scoped_release release;
            return read_seconds(workers(given), bytes, passes);
        },
        "workers"_a, "bytes"_a, "passes"_a);
    m.def(
        "chase_nanoseconds",
        [](const Given& given, std::size_t bytes, long loads, int passes) {
            const nb::gil_scoped_release release;
            return chase_nanoseconds(worker(given), bytes, loads, passes);
        },
        "worker"_a, "bytes"_a, "loads"_a, "passes"_a);
}
