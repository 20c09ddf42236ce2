// The Python face of the scheduler of loops.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <utility>

#include "filled.hpp"
#include "schedule/replay.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using namespace nearfield::schedule;
using nearfield::filled;

namespace {

nb::dict counters_of(const Counters& found) {
    nb::dict d;
    constexpr const char* names[] = {"local", "near", "far"};
    for (int n = 0; n < 3; ++n) {
        d[names[n]] = found.blocks[n];
        d[(std::string(names[n]) + "_seconds").c_str()] = found.seconds[n];
    }
    d["loops"] = found.loops;
    d["threads"] = found.threads;
    d["nodes"] = found.nodes;
    d["bound"] = found.bound;
    return d;
}

// The loop with real threads, unbound unless `processors` are given: how often each block was made, and the counters.
nb::tuple visits(long blocks, const std::string& kind, std::vector<int> node_of_thread, Matrix distances,
                 std::vector<std::vector<int>> processors) {
    const Layout layout{std::move(node_of_thread), std::move(distances), std::move(processors)};
    Ranges ranges(blocks, kind_of(kind), layout);
    Counters counters;
    const auto made = filled<int>({std::size_t(blocks)}, [&](int* times) {
        std::fill_n(times, blocks, 0);
        counters = run(ranges, layout, [&](long begin, long end) {
            for (long block = begin; block < end; ++block) std::atomic_ref(times[block]).fetch_add(1);
        });
    });
    return nb::make_tuple(made, counters_of(counters));
}

// `work(block)` of Python for each block, by the chosen schedule, on this machine; counted. After an error no thread
// begins another block; of several the one of the first block is raised, when all threads have ended.
void calls(long blocks, int threads, const nb::callable& work) {
    std::atomic<long> failed{blocks};  // the first block with an error; written, as `error`, by whom has Python's lock
    std::exception_ptr error;
    {
        const nb::gil_scoped_release release;
        run(blocks, threads, [&](long begin, long end) {
            if (failed < blocks) return;
            const nb::gil_scoped_acquire acquire;
            try {
                for (; begin < end && failed == blocks; ++begin) work(begin);
            } catch (...) {
                if (begin >= failed) return;
                failed = begin;
                const auto later = std::exchange(error, std::current_exception());  // its end may run Python
            }
        });
    }
    if (error) std::rethrow_exception(error);
}

nb::dict replayed(std::vector<double> blocks, const std::string& kind, std::vector<int> node_of_thread,
                  Matrix distances, Matrix slower, Matrix take) {
    const Layout layout{std::move(node_of_thread), std::move(distances), {}};
    const Prices prices{std::move(blocks), std::move(slower), std::move(take)};
    Replayed found;
    {
        const nb::gil_scoped_release release;
        found = replay(prices, kind_of(kind), layout);
    }
    nb::dict d = counters_of(found.counted);
    d["seconds"] = found.seconds;
    d["work"] = found.work;
    d["distance"] = found.distance;
    d["counters"] = found.counters;
    d["idle"] = found.idle;
    d["ends"] = found.ends;
    return d;
}

}  // namespace

void bind_schedule(nb::module_& m) {
    m.def("choose", [](const std::string& kind) { choose(kind_of(kind)); }, "kind"_a);
    m.def("chosen", [] { return name_of(chosen()); });
    m.def("counted", [] { return counters_of(counted()); });
    m.def("forget", &forget);
    m.def("record", &record, "on"_a);
    m.def("recorded", &recorded);
    m.def("calls", &calls, "blocks"_a, "threads"_a, "work"_a);
    m.def("spread", &spread, "processors"_a, "threads"_a);
    m.def("visits", &visits, "blocks"_a, "kind"_a, "node_of_thread"_a, "distances"_a,
          "processors"_a = std::vector<std::vector<int>>{});
    m.def("replay", &replayed, "blocks"_a, "kind"_a, "node_of_thread"_a, "distances"_a, "slower"_a, "take"_a);
}
