#include "schedule/ranges.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>

namespace nearfield::schedule {

namespace {

constexpr long all = std::numeric_limits<long>::max();
// Takes that a thread is expected to make of what is left: guided self-scheduling. With 4 the slowest nodes, on a board of
// few, ended 6 % after all others in benchmarks/thousand_threads.py.
constexpr double parts = 16;

std::uint64_t packed(long front, long back) { return std::uint64_t(back) << 32 | std::uint64_t(front); }

}  // namespace

Kind kind_of(const std::string& name) {
    for (const Kind kind : {Kind::local, Kind::dynamic, Kind::fixed})
        if (name_of(kind) == name) return kind;
    throw std::invalid_argument("a schedule is local, dynamic or static");
}

std::string name_of(Kind kind) { return kind == Kind::local ? "local" : kind == Kind::dynamic ? "dynamic" : "static"; }

Ranges::Ranges(long blocks, Kind kind, const Layout& layout)
    : kind_(kind), layout_(layout), threads_on_(layout.threads_on()) {
    check(layout);
    if (blocks < 0 || blocks > long(std::numeric_limits<std::uint32_t>::max()))
        throw std::length_error("more blocks than a schedule can number; take longer ones");
    const auto part = [&](long n, long count) { return long(__int128(blocks) * n / count); };
    long before = 0;
    begins_.push_back(0);
    for (const long threads : threads_on_) begins_.push_back(part(before += threads, layout.threads()));
    const bool by_node = kind == Kind::local;
    const long count = kind == Kind::fixed ? layout.threads() : by_node ? layout.nodes() : 1;
    ranges_ = std::make_unique<Range[]>(count);
    for (long n = 0; n < count; ++n) {
        ranges_[n].begin = by_node ? begins_[n] : part(n, count);
        ranges_[n].ends = packed(0, (by_node ? begins_[n + 1] : part(n + 1, count)) - ranges_[n].begin);
    }
    for (int node = 0; node < layout.nodes(); ++node) tiers_.push_back(layout.tiers(node));
}

int Ranges::home(long block) const {
    return int(std::upper_bound(begins_.begin(), begins_.end(), block) - begins_.begin()) - 1;
}

Nearness Ranges::nearness(int thread, int home) const {
    const int node = layout_.node_of_thread[thread];
    if (node == home) return own;
    const auto& closest = tiers_[node].front();
    return std::find(closest.begin(), closest.end(), home) != closest.end() ? near : far;
}

Ranges::Rule Ranges::from_afar(int node, int home) const {
    const double farther = std::max(1.0, layout_.distances[node][home] / layout_.distances[node][node]);
    const double crowd = double(std::max(1L, threads_on_[home])) * farther;
    return {1.0 / (parts * crowd), all, long(crowd), false};
}

Share Ranges::take(Range& range, int home, const Rule& rule) {
    std::uint64_t seen = range.ends.load(std::memory_order_relaxed);
    while (left(seen) > rule.kept) {
        const long count = std::clamp(long(rule.part * double(left(seen))), 1L, rule.most);
        const long first = long(seen & 0xffffffffu), last = long(seen >> 32);
        const auto wanted = rule.front ? packed(first + count, last) : packed(first, last - count);
        if (!range.ends.compare_exchange_weak(seen, wanted, std::memory_order_relaxed)) continue;
        const long begin = range.begin + (rule.front ? first : last - count);
        return {begin, begin + count, home};
    }
    return {0, 0, home};
}

Share Ranges::take_nearest(int node) {
    for (const auto& tier : tiers_[node])
        for (;;) {
            const auto rest = [&](int n) { return left(ranges_[n].ends.load(std::memory_order_relaxed)); };
            const auto less = [&](int a, int b) { return rest(a) < rest(b); };
            const int fullest = *std::max_element(tier.begin(), tier.end(), less);
            const Rule rule = from_afar(node, fullest);
            if (rest(fullest) <= rule.kept) break;
            const Share share = take(ranges_[fullest], fullest, rule);
            if (!share.empty()) return share;
        }
    return {};
}

Share Ranges::take(int thread) {
    const int node = layout_.node_of_thread[thread];
    if (kind_ == Kind::local) {
        const double crowd = double(std::max(1L, threads_on_[node]));
        const Share share = take(ranges_[node], node, {1.0 / (parts * crowd), all, 0, true});
        return share.empty() ? take_nearest(node) : share;
    }
    const bool own = kind_ == Kind::fixed;
    Share share = take(ranges_[own ? thread : 0], 0, {1.0, own ? all : 1, 0, true});
    share.home = share.empty() ? 0 : home(share.begin);
    return share;
}

}  // namespace nearfield::schedule
