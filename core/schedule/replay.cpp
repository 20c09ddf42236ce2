#include "schedule/replay.hpp"

#include <queue>
#include <stdexcept>

namespace nearfield::schedule {

Replayed replay(const Prices& prices, Kind kind, const Layout& layout) {
    const std::size_t nodes = layout.distances.size();
    if (prices.slower.size() != nodes || prices.take.size() != nodes)
        throw std::invalid_argument("prices of a replay have a row for each node");
    Ranges ranges(long(prices.blocks.size()), kind, layout);
    std::vector<double> free(nodes, 0.0);  // when the counter of a node can be asked again
    using Moment = std::pair<double, int>;
    std::priority_queue<Moment, std::vector<Moment>, std::greater<>> threads;
    for (int t = 0; t < layout.threads(); ++t) threads.emplace(0.0, t);
    Replayed found;
    auto& ends = found.ends;
    ends.assign(layout.threads(), 0.0);
    while (!threads.empty()) {
        const auto [clock, thread] = threads.top();
        threads.pop();
        const Share share = ranges.take(thread);
        if (share.empty()) continue;
        const int node = layout.node_of_thread[thread];
        double now = clock;
        if (kind != Kind::fixed) {
            const int counter = kind == Kind::local ? share.home : layout.node_of_thread[0];
            now = std::max(now, free[counter]) + prices.take[node][counter];
            free[counter] = now;
            found.counters += now - clock;
        }
        double work = 0.0;
        for (long block = share.begin; block < share.end; ++block) work += prices.blocks[block];
        const double spent = work * prices.slower[node][share.home];
        const auto nearness = ranges.nearness(thread, share.home);
        found.work += work;
        found.distance += spent - work;
        found.counted.blocks[nearness] += share.end - share.begin;
        found.counted.seconds[nearness] += spent;
        ends[thread] = now + spent;
        threads.emplace(ends[thread], thread);
    }
    found.seconds = *std::max_element(ends.begin(), ends.end());
    for (const double end : ends) found.idle += found.seconds - end;
    found.counted.loops = 1;
    found.counted.threads = layout.threads(), found.counted.nodes = layout.nodes();
    return found;
}

}  // namespace nearfield::schedule
