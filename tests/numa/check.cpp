// Where do pages and threads of the solver's own allocation and teams lie? Run where there are two NUMA nodes
// (scripts/numa_guest boots such a machine): prints a table, exits with 0 if every line is as it must be.
#include <cstdio>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "block.hpp"
#include "machine/pages.hpp"
#include "machine/processors.hpp"
#include "team.hpp"

using namespace nearfield;

namespace {

constexpr long samples = 4 << 20;  // of each array: 16 MiB, eight huge pages

struct Placed {
    Array<float> array;
    std::vector<Processors> allowed;  // of each thread of the team
    std::vector<int> nodes;           // where each ran
};

// The one adapter to the solver: an array as a domain allocates it, each thread of its pinned team touching its share.
Placed place(const std::vector<Processors>& team, MemoryPolicy policy, const std::vector<int>& nodes = {}) {
    Placed placed{allocate<float>(samples, true), std::vector<Processors>(team.size()), std::vector<int>(team.size())};
    const long share = samples / long(team.size());
    const auto touch = [&](long thread) {
        const ThreadPolicy under(policy, nodes);
        std::memset(placed.array.get() + thread * share, 0, share * sizeof(float));
        placed.allowed[thread] = allowed_processors();
        placed.nodes[thread] = current_node();
    };
    Team(long(team.size()), team).run(touch, [] {});
    return placed;
}

// Percent of the pages on a node: of the part of an array that one of `parts` threads updates.
long share_on(int node, const Placed& placed, long thread = 0, long parts = 1) {
    const long length = samples / parts;
    const PageCounts found = pages_by_node(placed.array.get() + thread * length, length * sizeof(float));
    const long here = long(found.by_node.size()) > node ? found.by_node[node] : 0;
    return found.pages ? 100 * here / found.pages : 0;
}

// The locality share: pages on the node of the thread that updates them.
long local_share(const Placed& placed, const std::vector<int>& updating) {
    long sum = 0;
    const long threads = long(updating.size());
    for (long t = 0; t < threads; ++t) sum += share_on(updating[t], placed, t, threads);
    return sum / threads;
}

bool pinned(const Placed& placed, const std::vector<Processors>& team, int node) {
    for (std::size_t t = 0; t < team.size(); ++t)
        if (placed.allowed[t] != team[t] || placed.nodes[t] != node) return false;
    return true;
}

long failures = 0;

// A line of the table. `right`: what was found is what must be found.
void report(const char* what, const std::string& found, bool right) {
    std::printf("%-62s %-26s %s\n", what, found.c_str(), right ? "ok" : "NOT AS IT MUST BE");
    failures += !right;
}

void report_share(const char* what, long share, long wanted) {
    report(what, std::to_string(share) + " %", share == wanted);
}

// A placement and the judgement that a run would pass on it: local, or wrong with its locality share.
void report_judgement(const char* what, long share, long wanted) {
    const std::string verdict = share == 100 ? "local" : "WRONG: " + std::to_string(share) + " % local";
    report(what, verdict, share == wanted);
}

const std::vector<Processors> first_node = {{0}, {1}}, second_node = {{2}, {3}};

void right_placements() {
    const Placed first = place(first_node, MemoryPolicy::first_touch);
    const Placed second = place(second_node, MemoryPolicy::first_touch);
    report("threads of domain 0 are pinned to node 0", "processors 0, 1", pinned(first, first_node, 0));
    report("threads of domain 1 are pinned to node 1", "processors 2, 3", pinned(second, second_node, 1));
    report_judgement("first touch: pages of domain 0 near their threads", local_share(first, {0, 0}), 100);
    report_judgement("first touch: pages of domain 1 near their threads", local_share(second, {1, 1}), 100);
    const Placed both = place({{1}, {2}}, MemoryPolicy::first_touch);
    report_judgement("first touch: one domain over both nodes, each its half", local_share(both, {0, 1}), 100);

    const Placed bound = place(second_node, MemoryPolicy::bind, {1});
    report_judgement("bind to node 1, touched there", local_share(bound, {1, 1}), 100);
    const Placed afar = place(first_node, MemoryPolicy::bind, {1});
    report_share("bind to node 1, touched on node 0: on node 1", share_on(1, afar), 100);
    const Placed spread = place(first_node, MemoryPolicy::interleave, {0, 1});
    report_share("interleave over both: on node 1", share_on(1, spread), 50);
    report_share("off, after all those: on node 0", share_on(0, place(first_node, MemoryPolicy::off)), 100);
}

// The neighbour reads what the team that fills it has touched.
void halo_buffers() {
    const Placed to_second = place(first_node, MemoryPolicy::first_touch);
    const Placed to_first = place(second_node, MemoryPolicy::first_touch);
    report_share("halo buffer that domain 0 fills: on node 0", share_on(0, to_second), 100);
    report_share("halo buffer that domain 1 fills: on node 1", share_on(1, to_first), 100);
}

void refusals() {
    const std::string absent = policy_refused(MemoryPolicy::bind, {2});
    const std::string part = policy_refused(MemoryPolicy::interleave, {0, 2});
    report("bind to node 2 is refused", absent.empty() ? "taken" : "refused", !absent.empty());
    report("interleave over nodes 0 and 2 is refused", part.empty() ? "taken" : "refused", !part.empty());
    report("bind to node 1 is not refused", "taken", policy_refused(MemoryPolicy::bind, {1}).empty());
}

// What must be seen to be wrong.
void wrong_placements() {
    const Placed one = place({{0}}, MemoryPolicy::first_touch);
    report_judgement("wrong: pages touched by one thread, teams on both nodes", local_share(one, {0, 1}), 50);
    report_judgement("wrong: pages on node 0, threads on node 1", local_share(one, {1, 1}), 0);
}

}  // namespace

int main() {
    setvbuf(stdout, nullptr, _IOLBF, 0);
    if (node_of_processor(0) != 0 || node_of_processor(3) != 1) {
        std::fprintf(stderr, "numa_check needs processors 0, 1 on node 0 and 2, 3 on node 1: run scripts/numa_guest\n");
        return 2;
    }
    try {
        right_placements();
        halo_buffers();
        refusals();
        wrong_placements();
    } catch (const std::exception& error) {
        report("no call is refused", error.what(), false);
    }
    std::printf("%ld of these are not as they must be\n", failures);
    return failures > 0;
}
