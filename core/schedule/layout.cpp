#include "schedule/layout.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <stdexcept>
#include <string>

#include "machine/number_files.hpp"
#include "machine/processors.hpp"

namespace nearfield::schedule {

namespace {

constexpr double own_distance = 10.0, other_distance = 20.0;  // of a firmware that has no table

// The node of every processor that was asked for, looked up once a process: the files do not change.
int node_of(int processor) {
    thread_local std::map<int, int> known;
    const auto [found, fresh] = known.try_emplace(processor, 0);
    if (fresh) found->second = std::max(0, node_of_processor(processor));
    return found->second;
}

// Row of the firmware's table: distances of one node from all that are online, in their order.
std::vector<double> table_row(int node) {
    const std::vector<int> row = numbers_in_file("/sys/devices/system/node/node" + std::to_string(node) + "/distance");
    return {row.begin(), row.end()};
}

}  // namespace

std::vector<long> Layout::threads_on() const {
    std::vector<long> counts(nodes());
    for (const int node : node_of_thread) ++counts[node];
    return counts;
}

std::vector<std::vector<int>> Layout::tiers(int node) const {
    std::map<double, std::vector<int>> by_distance;
    for (int other = 0; other < nodes(); ++other)
        if (other != node) by_distance[distances[node][other]].push_back(other);
    std::vector<std::vector<int>> found;
    for (auto& [distance, group] : by_distance) found.push_back(std::move(group));
    return found;
}

std::vector<int> spread(const std::vector<std::vector<int>>& processors, int threads) {
    std::vector<int> owners;
    for (std::size_t node = 0; node < processors.size(); ++node)
        owners.insert(owners.end(), processors[node].size(), int(node));
    std::vector<int> found(threads);
    for (long t = 0; t < threads; ++t)
        found[t] = owners.empty() ? 0 : owners[std::size_t(t * long(owners.size()) / threads)];
    return found;
}

Layout this_machine(int threads) {
    std::map<int, std::vector<int>> by_node;
    try {
        for (const int processor : allowed_processors()) by_node[node_of(processor)].push_back(processor);
    } catch (const std::exception&) {  // a system that does not say: one node
        by_node.clear();
    }
    if (by_node.size() < 2) return {std::vector<int>(threads, 0), {{own_distance}}, {}};
    Layout layout;
    const std::size_t most = std::size_t(by_node.rbegin()->first);
    for (const auto& [node, processors] : by_node) {
        const auto row = table_row(node);
        layout.processors.push_back(processors);
        layout.distances.emplace_back();
        for (const auto& [other, unused] : by_node) {
            const double assumed = node == other ? own_distance : other_distance;
            layout.distances.back().push_back(row.size() > most ? row[other] : assumed);
        }
    }
    layout.node_of_thread = spread(layout.processors, threads);
    return layout;
}

void check(const Layout& layout) {
    const auto& nodes = layout.node_of_thread;
    if (nodes.empty() || !std::is_sorted(nodes.begin(), nodes.end()))
        throw std::invalid_argument("threads of a loop stand in the order of their nodes");
    if (nodes.front() < 0 || nodes.back() >= layout.nodes()) throw std::invalid_argument("a thread is on no node");
    for (const auto& row : layout.distances) {
        const bool positive = std::all_of(row.begin(), row.end(), [](double d) { return d > 0; });
        if (long(row.size()) != layout.nodes() || !positive)
            throw std::invalid_argument("distances of nodes are a square of positive numbers");
    }
}

}  // namespace nearfield::schedule
