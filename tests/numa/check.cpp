// Where do the pages and threads of the solver's engine lie? Run where there are two NUMA nodes (scripts/numa_guest
// boots such a machine): prints a table, exits with 0 if every line is as it must be.
#include <cstdio>
#include <exception>
#include <memory>
#include <string>
#include <vector>

#include "engine.hpp"
#include "machine/pages.hpp"
#include "machine/processors.hpp"
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
        rings();
        refusals();
        wrong_placements();
    } catch (const std::exception& error) {
        report("no call fails", error.what(), false);
    }
    std::printf("%ld lines are not as they must be\n", failures);
    return failures > 0;
}
