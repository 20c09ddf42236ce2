#include "team.hpp"

#include <unistd.h>

#include <chrono>
#include <utility>

#include "machine/processors.hpp"

#if defined(__linux__)
#include <sys/syscall.h>
#endif
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

FlushedDenormals::FlushedDenormals() {
#if defined(__x86_64__)
    before_ = _mm_getcsr();
    _mm_setcsr(static_cast<unsigned>(before_) | 0x8040);  // flush-to-zero and denormals-are-zero
#elif defined(__aarch64__)
    asm volatile("mrs %0, fpcr" : "=r"(before_));
    asm volatile("msr fpcr, %0" : : "r"(before_ | (1ul << 24)));
#endif
}

FlushedDenormals::~FlushedDenormals() {
#if defined(__x86_64__)
    _mm_setcsr(static_cast<unsigned>(before_));
#elif defined(__aarch64__)
    asm volatile("msr fpcr, %0" : : "r"(before_));
#endif
}

Team::Team(long threads, std::vector<Processors> processors) : processors_(std::move(processors)), ids_(threads) {
    processors_.resize(threads);
    for (long t = 0; t < threads; ++t) threads_.emplace_back(&Team::serve, this, t);
    try {
        run([](long) {}, [] {});  // all are bound now, or one says why it is not
    } catch (...) {
        close();
        throw;
    }
}

void Team::close() {
    {
        const std::lock_guard lock(mutex_);
        closing_ = true;
    }
    called_.notify_all();
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
}

void Team::serve(long thread) {
    const FlushedDenormals flushed;
    std::exception_ptr mine;
    try {
        if (!processors_[thread].empty()) bind_this_thread(processors_[thread]);
#if defined(__linux__)
        ids_[thread] = syscall(SYS_gettid);
#endif
    } catch (...) {
        mine = std::current_exception();
    }
    for (long done = 0;; ++done) {
        std::unique_lock lock(mutex_);
        called_.wait(lock, [&] { return closing_ || run_ > done; });
        if (closing_) return;
        const auto* work = work_;
        lock.unlock();
        if (!mine) try {
                (*work)(thread);
            } catch (...) {
                mine = std::current_exception();
            }
        lock.lock();
        if (mine && !failure_) failure_ = std::exchange(mine, nullptr);
        if (--running_ == 0) finished_.notify_one();
    }
}

void Team::run(const std::function<void(long)>& work, const std::function<void()>& poll, double milliseconds) {
    std::unique_lock lock(mutex_);
    work_ = &work;
    running_ = size();
    ++run_;
    called_.notify_all();
    const std::chrono::duration<double, std::milli> pause(milliseconds);
    while (!finished_.wait_for(lock, pause, [&] { return running_ == 0; })) {
        lock.unlock();
        poll();
        lock.lock();
    }
    if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
}

}  // namespace nearfield
