// Threads of a loop on the NUMA nodes of a machine, real or only described.
#pragma once

#include <vector>

namespace nearfield::schedule {

using Matrix = std::vector<std::vector<double>>;

// Which node each thread runs on. Nodes are counted from 0, threads of one node stand together.
struct Layout {
    std::vector<int> node_of_thread;
    Matrix distances;                          // node x node, relative latencies as the firmware's table has them
    std::vector<std::vector<int>> processors;  // of each node; none where threads are not to be bound

    int threads() const { return int(node_of_thread.size()); }
    int nodes() const { return int(distances.size()); }
    std::vector<long> threads_on() const;  // each node
    // Other nodes, the nearest first, as groups of equal distance.
    std::vector<std::vector<int>> tiers(int node) const;
};

// So many threads on nodes with these processors, each node in proportion to them; nodes without any get none.
std::vector<int> spread(const std::vector<std::vector<int>>& processors, int threads);

// So many threads on the nodes that the calling thread may use. On one node nothing is bound.
Layout this_machine(int threads);

// Throws `std::invalid_argument` unless the layout has a thread, threads stand in the order of nodes, and distances are
// a square of positive numbers.
void check(const Layout& layout);

}  // namespace nearfield::schedule
