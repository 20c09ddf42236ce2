#include "team.hpp"

#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace nearfield {

bool Progress::reached(long value, const std::atomic<bool>& stop) const {
    for (long spins = 0; steps.load(std::memory_order_acquire) < value; ++spins) {
        if (stop.load(std::memory_order_relaxed)) return false;
        if (spins < 2000) {
#if defined(__x86_64__)
            _mm_pause();
#elif defined(__aarch64__)
            asm volatile("isb");  // `yield` does nothing on most cores
#endif
        } else if (spins < 4000) {
            std::this_thread::yield();
        } else {
            std::this_thread::sleep_for(std::chrono::microseconds(50));
        }
    }
    return true;
}

void flush_denormals() {
#if defined(__x86_64__)
    _mm_setcsr(_mm_getcsr() | 0x8040);  // flush-to-zero and denormals-are-zero
#elif defined(__aarch64__)
    unsigned long control;
    asm volatile("mrs %0, fpcr" : "=r"(control));
    asm volatile("msr fpcr, %0" : : "r"(control | (1ul << 24)));
#endif
}

void run_team(long threads, const std::function<void(long)>& work, const std::function<void()>& poll) {
    std::mutex mutex;
    std::condition_variable finished;
    long running = threads;
    std::exception_ptr failure;
    std::vector<std::thread> team;
    for (long t = 0; t < threads; ++t)
        team.emplace_back([&, t] {
            flush_denormals();
            std::exception_ptr mine;
            try {
                work(t);
            } catch (...) {
                mine = std::current_exception();
            }
            const std::lock_guard lock(mutex);
            if (mine && !failure) failure = mine;
            if (--running == 0) finished.notify_one();
        });
    {
        std::unique_lock lock(mutex);
        while (!finished.wait_for(lock, std::chrono::milliseconds(100), [&] { return running == 0; })) {
            lock.unlock();
            poll();
            lock.lock();
        }
    }
    for (std::thread& thread : team) thread.join();
    if (failure) std::rethrow_exception(failure);
}

}  // namespace nearfield
