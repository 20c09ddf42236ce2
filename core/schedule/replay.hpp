// A loop played on a machine that is only described: the scheduler is the real one, blocks take the time that they are
// said to take, and threads ask it in the order of the make-believe clock.
#pragma once

#include "schedule/loop.hpp"

namespace nearfield::schedule {

struct Prices {
    std::vector<double> blocks;  // s of each block where its memory is near
    Matrix slower;               // factor of a block of one node (column) on another (row); 1 on its own
    Matrix take;                 // s that taking from the counter on a node (column) occupies it, from another (row)
};

struct Replayed {
    double seconds = 0.0;               // until the last thread is done
    double work = 0.0, distance = 0.0;  // summed over threads: of blocks; beyond that, since their memory was not near
    double counters = 0.0;              // waiting for counters and taking from them
    double idle = 0.0;                  // at the end, for the last thread
    std::vector<double> ends;           // s at which each thread has made its last block
    Counters counted;
};

// One counter a node with `local`; one for all, on the first thread's node, with `dynamic`; none is shared with `fixed`.
Replayed replay(const Prices& prices, Kind kind, const Layout& layout);

}  // namespace nearfield::schedule
