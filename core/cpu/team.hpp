// Threads that share a sweep: each owns consecutive planes and waits only for its neighbours.
#pragma once

#include <atomic>
#include <functional>
#include <thread>
#include <vector>

namespace nearfield {

// A counter that one thread raises and its neighbour waits for. Waiting spins briefly, then yields, then sleeps:
// a spinning thread on a busy core would slow the neighbour that it waits for.
struct alignas(128) Progress {
    std::atomic<long> steps{0};
    void raise(long value) { steps.store(value, std::memory_order_release); }
    // False when the team was told to stop.
    bool reached(long value, const std::atomic<bool>& stop) const;
};

// Denormals become zero in this thread: they cost a factor of 18.
void flush_denormals();

// Runs `work(thread)` on `threads` fresh threads with denormals flushed; `poll` is called in the calling thread
// some ten times a second until all are done. The first exception of a worker is thrown here.
void run_team(long threads, const std::function<void(long)>& work, const std::function<void()>& poll);

}  // namespace nearfield
