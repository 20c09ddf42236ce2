// Threads that share a sweep: each owns tiles or planes and waits only for its neighbours.
#pragma once

#include <atomic>
#include <condition_variable>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
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

// While it lives, denormals become zero in this thread: they cost a factor of 18. Sums that other threads add to those
// of workers need it for the same bits.
class FlushedDenormals {
public:
    FlushedDenormals();
    ~FlushedDenormals();
    FlushedDenormals(const FlushedDenormals&) = delete;
    FlushedDenormals& operator=(const FlushedDenormals&) = delete;

private:
    unsigned long before_ = 0;
};

using Processors = std::vector<int>;  // numbers by the operating system's count

// Threads that live as long as the team, each bound to its processors (none given: wherever the system likes), with
// denormals flushed. Between two runs they sleep.
class Team {
public:
    // Throws std::runtime_error where a binding, or a thread, is refused.
    Team(long threads, std::vector<Processors> processors);
    ~Team();
    Team(const Team&) = delete;
    Team& operator=(const Team&) = delete;

    long size() const { return static_cast<long>(ids_.size()); }
    const std::vector<long>& system_ids() const { return ids_; }  // of the threads, as /proc names them
    // Every thread does `work(thread)`; the caller calls `poll` every `milliseconds` until all are done. The first
    // exception of a thread, or of `poll`, is thrown here once they are. Throws std::runtime_error in a process forked
    // from the one that made the team: no thread of it is there.
    void run(const std::function<void(long)>& work, const std::function<void()>& poll, double milliseconds = 100);

private:
    void serve(long thread);
    void close();

    struct Shared {  // what threads wait for and wake each other by
        std::mutex mutex;
        std::condition_variable called, finished;
        std::vector<std::thread> threads;
    };
    bool forked() const;

    std::vector<Processors> processors_;
    std::vector<long> ids_;
    const long process_;
    std::unique_ptr<Shared> shared_ = std::make_unique<Shared>();
    const std::function<void(long)>* work_ = nullptr;
    long run_ = 0, running_ = 0;  // number of the run, threads still at it
    bool closing_ = false;
    std::exception_ptr failure_;
};

}  // namespace nearfield
