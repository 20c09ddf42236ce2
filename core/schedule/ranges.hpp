// Who makes which block of a loop: the scheduler itself, without threads, so that a replay can ask it too.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "schedule/layout.hpp"

namespace nearfield::schedule {

// `local`: every node has a range of blocks, in proportion to its threads. A thread takes from the front of its own
// node's, then from the back of that of the nearest node that has most left; a part of what is left, so that early takes
// are long and late ones short. Of a node r times as far as its own a thread takes the r-th part of that, and nothing of
// the last r blocks a thread there: those at hand end them sooner. `dynamic`: all take the next block of one counter.
// `fixed` ("static" for users): each thread has one range.
enum class Kind { local, dynamic, fixed };
Kind kind_of(const std::string& name);  // throws `std::invalid_argument` for any other than those
std::string name_of(Kind kind);

// A run of blocks that lie on one node; none left where it is empty.
struct Share {
    long begin = 0, end = 0;
    int home = 0;  // node whose range they are of
    bool empty() const { return begin == end; }
};

enum Nearness { own, near, far };  // near: on the closest of the other nodes

// A loop of `blocks` blocks. `take` may be called by all threads at once; every block is handed out exactly once.
class Ranges {
public:
    Ranges(long blocks, Kind kind, const Layout& layout);

    Share take(int thread);
    int home(long block) const;  // the node in whose range it lies, whatever the schedule
    Nearness nearness(int thread, int home) const;

private:
    struct alignas(128) Range {
        std::atomic<std::uint64_t> ends{0};  // next block of the front, and of the back: 32 bits each, from `begin`
        long begin = 0, divisor = 1;         // a take is what is left over this
    };
    static long left(std::uint64_t ends) { return long(ends >> 32) - long(ends & 0xffffffffu); }

    // How much may be taken of what is left: its part, at most so many blocks, of more than `kept`.
    struct Rule {
        double part;
        long most, kept;
        bool front;
    };
    Rule from_afar(int node, int home) const;
    Share take(Range& range, int home, const Rule& rule);
    Share take_nearest(int node);

    Kind kind_;
    const Layout& layout_;
    std::vector<long> threads_on_;
    std::vector<long> begins_;  // of the nodes' ranges, and the end
    std::unique_ptr<Range[]> ranges_;
    std::vector<std::vector<std::vector<int>>> tiers_;  // of each node, by `Layout::tiers`
};

}  // namespace nearfield::schedule
