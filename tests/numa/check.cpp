// Where do the pages and threads of the solver's engine lie? Run where there are two NUMA nodes (scripts/numa_guest
// boots such a machine): prints a table, exits with 0 if every line is as it must be.
#include <algorithm>
#include <cstdio>
#include <exception>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "engine.hpp"
#include "machine/pages.hpp"
#include "machine/probe.hpp"
#include "machine/processors.hpp"
#include "schedule/replicas.hpp"
#include "stream/segment.hpp"

using namespace nearfield;

namespace {

using Threads = std::vector<Processors>;
using Nodes = std::vector<int>;
const Threads everywhere = {{0}, {1}, {2}, {3}};  // two on each node
constexpr long rows = 64, cells = 64, plane_bytes = (rows + 2) * 6 * (cells + 2 * lanes) * 4;
constexpr long halo = 4 << 20;  // bytes of a buffer

// The one adapter to the solver: an engine of so many equal domains, with its pinned team and its pages.
std::unique_ptr<Engine<float>> engine(const Threads& threads, long domains, MemoryPolicy memory,
                                      std::vector<Nodes> nodes = {}, long planes = 512) {
    const Layout layout{planes, rows, cells, {}};
    Cuts cuts{{0}, {0, rows}, {0, layout.blocks}};
    for (long d = 1; d <= domains; ++d) cuts.planes.push_back(planes * d / domains);
    const std::array<Extent, 3> own{Extent{0, planes}, Extent{0, rows}, Extent{0, cells}};
    const Placement placement{threads, memory, std::move(nodes)};
    return std::make_unique<Engine<float>>(layout, Seams{}, 1, cuts, own, 2, long(threads.size()), placement, "");
}

long failures = 0;

void report(const std::string& what, const std::string& found, bool right) {
    std::printf("%-64s %-28s %s\n", what.c_str(), found.c_str(), right ? "ok" : "NOT AS IT MUST BE");
    failures += !right;
}

long percent(const PageCounts& found, int node) {
    const long here = long(found.by_node.size()) > node ? found.by_node[node] : 0;
    return found.pages ? 100 * here / found.pages : 0;
}

// Two domains may share one huge page at most: of some 40 MB each, that is 5 percent, and 2 are left for rounding.
constexpr long close = 7;

void report_share(const std::string& what, const PageCounts& found, int node, long wanted) {
    const long share = percent(found, node);
    report(what, std::to_string(share) + " %", std::abs(share - wanted) <= close);
}

// The judgement that a run passes: the share of a domain's pages on the node of the threads that update them.
void report_judgement(const std::string& what, const PageCounts& found, int node, long wanted) {
    const long share = percent(found, node);
    const std::string words = std::to_string(share) + " % local";
    report(what, share > 100 - close ? words : "WRONG: " + words, std::abs(share - wanted) <= close);
}

bool pinned(const Engine<float>& solver, const Threads& wanted) {
    for (std::size_t t = 0; t < wanted.size(); ++t)
        if (allowed_processors(int(solver.team().system_ids()[t])) != wanted[t]) return false;
    return solver.team().system_ids().size() == wanted.size();
}

void threads() {
    const auto solver = engine(everywhere, 2, MemoryPolicy::first_touch);
    report("a thread on each processor, two for each domain", "pinned to 0 1 2 3", pinned(*solver, everywhere));
    const Threads halves = {{0, 1}, {0, 1}, {2, 3}, {2, 3}};
    const auto moving = engine(halves, 2, MemoryPolicy::first_touch);
    report("threads that may move within their node", "bound to 0,1 and 2,3", pinned(*moving, halves));
}

// `of`: what the lines begin with; `first`, `second`: nodes on which the pages of two domains must lie.
void two_domains(const std::string& of, const std::vector<PageCounts>& found, int first, int second) {
    report_share(of + ": domain 0 on node " + std::to_string(first), found[0], first, 100);
    report_share(of + ": domain 1 on node " + std::to_string(second), found[1], second, 100);
}

void policies() {
    two_domains("first touch", engine(everywhere, 2, MemoryPolicy::first_touch)->pages(1000000), 0, 1);
    two_domains("bind to nodes 0 and 1", engine(everywhere, 2, MemoryPolicy::bind, {{0}, {1}})->pages(1000000), 0, 1);
    two_domains("bind crosswise", engine(everywhere, 2, MemoryPolicy::bind, {{1}, {0}})->pages(1000000), 1, 0);
    const auto spread = engine(everywhere, 2, MemoryPolicy::interleave, {{0, 1}, {0, 1}})->pages(1000000);
    report_share("interleave: domain 0 on node 1", spread[0], 1, 50);
    report_share("interleave: domain 1 on node 1", spread[1], 1, 50);
}

// Memory that an engine gave back must not come again with its pages where they lay: heaps keep up to 32 MiB, and
// blocks smaller than any that was given back.
void one_after_the_other() {
    const long planes = (8 << 20) / plane_bytes;
    for (const long times : {2, 1, 1}) engine(everywhere, 2, MemoryPolicy::bind, {{1}, {0}}, times * planes);
    const auto found = engine(everywhere, 2, MemoryPolicy::first_touch, {}, planes)->pages(1000000);
    report_share("8 MiB, first touch after bind crosswise: domain 1 on node 1", found[1], 1, 100);
}

// The second buffer of an exchange: touched by the team that fills it, read by the other.
void halo_buffers() {
    for (const int node : {0, 1}) {
        const auto buffer = allocate<char>(halo, true);
        Team team(2, {{2 * node}, {2 * node + 1}});
        team.run([&](long thread) { std::fill_n(buffer.get() + thread * (halo / 2), halo / 2, char(0)); }, [] {});
        const std::string name = std::to_string(node);
        const PageCounts found = pages_by_node(buffer.get(), halo);
        report_share("halo buffer that domain " + name + " fills: on node " + name, found, node, 100);
    }
}

// Shared memory, made by a thread on the other node; its policy is the file's, whoever maps it.
void rings() {
    namespace ring = nearfield::stream;
    for (const int node : {0, 1}) {
        bind_this_thread({2 * (1 - node)});
        const auto made = ring::Segment::make("/shared/check", {8, 1 << 20, "{}", false, MemoryPolicy::bind, {node}});
        const std::string name = std::to_string(node);
        report_share("ring bound to node " + name + ", made on the other: on node " + name, made->pages(1000000), node,
                     100);
    }
    const auto made = ring::Segment::make("/shared/check", {8, 1 << 20, "{}", false, MemoryPolicy::interleave, {0, 1}});
    report_share("ring interleaved: half on node 1", made->pages(1000000), 1, 50);
    bool refused = false;
    try {
        ring::Segment::make("/shared/check", {8, 1 << 20, "{}", false, MemoryPolicy::bind, {2}});
    } catch (const std::exception&) {
        refused = true;
    }
    report("ring bound to node 2, which is not there", refused ? "refused" : "granted", refused);
}

void refusals() {
    const auto say = [](const std::string& refused) { return refused.empty() ? std::string("granted") : "refused"; };
    const std::string absent = policy_refused(MemoryPolicy::bind, {2});
    const std::string beside = policy_refused(MemoryPolicy::interleave, {0, 2});
    const std::string present = policy_refused(MemoryPolicy::bind, {0, 1});
    report("bind to node 2, which is not there", say(absent), !absent.empty());
    report("interleave over nodes 0 and 2", say(beside), !beside.empty());
    report("bind to nodes 0 and 1", say(present), present.empty());
}

// A loop by the scheduler over an array that it touched first: pages and blocks of both nodes, the sum of one thread.
void loops() {
    constexpr long count = 8 << 20, chunk = 4096, blocks = count / chunk;
    const auto machine = schedule::this_machine(4);
    report("loop of four threads: nodes", std::to_string(machine.nodes()),
           machine.node_of_thread == std::vector<int>{0, 0, 1, 1});
    report("distance of the nodes, as the firmware says", std::to_string(long(machine.distances[0][1])),
           machine.distances[0][1] == 21.0);
    const auto values = allocate<double>(count, true);
    const auto each = [&](long begin, long end, const auto& work) {
        for (long n = begin * chunk; n < end * chunk; ++n) work(n);
    };
    schedule::Ranges fill(blocks, schedule::Kind::fixed, machine);
    schedule::run(fill, machine,
                  [&](long begin, long end) { each(begin, end, [&](long n) { values[n] = double(n); }); });
    for (const int node : {0, 1})
        report_share("half " + std::to_string(node) + " of what a loop touches: on node " + std::to_string(node),
                     pages_by_node(values.get() + node * (count / 2), count / 2 * sizeof(double)), node, 100);
    // The emulator makes the processors' time slices: a node whose threads wait for theirs is helped, as it should be. So
    // a schedule that keeps to its nodes may show it in any of several loops.
    for (const auto kind : {schedule::Kind::local, schedule::Kind::dynamic, schedule::Kind::fixed}) {
        const std::string name = "loop, " + schedule::name_of(kind);
        long share = 0, bound = 4;
        bool equal = true;
        const int loops = kind == schedule::Kind::local ? 8 : 1;
        for (int loop = 0; loop < loops && share <= 95; ++loop) {
            std::vector<double> sums(blocks);
            schedule::Ranges ranges(blocks, kind, machine);
            const auto found = schedule::run(ranges, machine, [&](long begin, long end) {
                for (long block = begin; block < end; ++block)
                    each(block, block + 1, [&](long n) { sums[block] += values[n]; });
            });
            const double sum = std::accumulate(sums.begin(), sums.end(), 0.0);
            equal = equal && sum == 0.5 * double(count) * double(count - 1);
            bound = std::min(bound, long(found.bound));
            share = std::max(share, long(100 * found.blocks[schedule::own] / blocks));
        }
        report(name + ": threads bound to their nodes", std::to_string(bound), bound == 4);
        report(name + ": the sum of one thread", "equal", equal);
        const bool right = kind == schedule::Kind::local ? share > 95 : kind == schedule::Kind::dynamic || share == 100;
        report(name + ": blocks on the own node", std::to_string(share) + " %", right);
    }
    report("the caller may run where it could before", "everywhere", allowed_processors().size() == 4);
    std::vector<double> read(1 << 20, 1.0);
    const schedule::Replicas<double> replicas(read, machine);
    for (const int node : {0, 1})
        report_share("replica on node " + std::to_string(node),
                     pages_by_node(replicas.on(node), read.size() * sizeof(double)), node, 100);
}

// Every node's cores read every node's memory, as `probe stream --scale` has them do: threads and pages are granted. How
// fast says nothing here.
void pairs() {
    constexpr std::size_t bytes = 1 << 20;
    for (const int cores : {0, 1})
        for (const int memory : {0, 1}) {
            const std::vector<MemoryWorker> readers = {{{2 * cores}, memory}, {{2 * cores + 1}, memory}};
            const double seconds = read_seconds(readers, bytes, 3).back();
            const double wait = chase_nanoseconds(readers[0], bytes, 2000, 2).back();
            report("cores of node " + std::to_string(cores) + " read memory of node " + std::to_string(memory),
                   std::to_string(long(2e-6 * bytes / seconds)) + " MB/s, " + std::to_string(long(wait)) + " ns",
                   seconds > 0 && wait > 0);
        }
}

// What must be seen to be wrong.
void wrong_placements() {
    bind_this_thread({0});  // the one that touches everything when no policy is asked for
    const auto off = engine(everywhere, 2, MemoryPolicy::off)->pages(1000000);
    report_judgement("touched by one thread on node 0: domain 0, threads on node 0", off[0], 0, 100);
    report_judgement("touched by one thread on node 0: domain 1, threads on node 1", off[1], 1, 0);
    const auto far = engine({{2}, {3}}, 1, MemoryPolicy::bind, {{0}})->pages(1000000);
    report_judgement("bound to node 0, all threads on node 1", far[0], 1, 0);
    const auto half = engine({{2}, {3}}, 1, MemoryPolicy::interleave, {{0, 1}})->pages(1000000);
    report_judgement("interleaved, all threads on node 1", half[0], 1, 50);
}

}  // namespace

int main() {
    setvbuf(stdout, nullptr, _IOLBF, 0);
    for (int processor = 0; processor < 4; ++processor) {
        if (node_of_processor(processor) == processor / 2) continue;
        std::fprintf(stderr, "numa_check needs processors 0, 1 on node 0 and 2, 3 on node 1: run scripts/numa_guest\n");
        return 2;
    }
    try {
        threads();
        policies();
        one_after_the_other();
        halo_buffers();
        loops();
        pairs();
        rings();
        refusals();
        wrong_placements();
    } catch (const std::exception& error) {
        report("no call fails", error.what(), false);
    }
    std::printf("%ld lines are not as they must be\n", failures);
    return failures > 0;
}
