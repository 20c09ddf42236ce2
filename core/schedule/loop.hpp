// A loop shared by threads that stay on their NUMA nodes and work on what lies there first.
#pragma once

#include <algorithm>
#include <array>
#include <functional>
#include <vector>

#include "schedule/ranges.hpp"

namespace nearfield::schedule {

// What became of the blocks of one or more loops, by `Nearness`; seconds are summed over threads.
struct Counters {
    std::array<long, 3> blocks{};
    std::array<double, 3> seconds{};
    long loops = 0;
    int threads = 0, nodes = 0, bound = 0;  // most of a loop; threads that were bound to their node

    void add(const Counters& other);
};

// The schedule of loops that name none, for the whole process; and what was counted since `forget`.
void choose(Kind kind);
Kind chosen();
Counters counted();
void forget();

// While it is on, the calling thread makes all blocks of every loop alone and in order, and the seconds of the
// processor are kept, a row a loop: what a replay is given.
void record(bool on);
std::vector<std::vector<double>> recorded();

// The number of the node that the calling thread works on in a loop, by its layout; 0 outside.
int here();

// `work(begin, end)` for each of the blocks of `ranges`, by threads of the layout, each bound to its node's processors
// where it has some; the caller is one of them and is bound as before at the end. Nothing may be thrown in `work`.
// Throws `Stopped` (machine/stopping.hpp), blocks left undone, where the caller is to end.
Counters run(Ranges& ranges, const Layout& layout, const std::function<void(long, long)>& work);

// The same by the chosen schedule, on this machine; counted.
void run(long blocks, int threads, const std::function<void(long, long)>& work);

}  // namespace nearfield::schedule

namespace nearfield {

// `work(begin, end)` on chunks of 0 to count, each whole but the last; nothing may be thrown in it.
template <class Work>
void in_chunks(long count, long chunk, int threads, const Work& work) {
    const long blocks = (count + chunk - 1) / chunk;
    schedule::run(blocks, int(std::min<long>(threads, blocks)), [&](long first, long last) {
        for (long block = first; block < last; ++block) work(block * chunk, std::min((block + 1) * chunk, count));
    });
}

}  // namespace nearfield
