#include "team.hpp"

#include <unistd.h>

#include <chrono>
#include <string>
#include <system_error>
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

Team::Team(long threads, std::vector<Processors> processors)
    : processors_(std::move(processors)), ids_(threads), process_(getpid()) {
    processors_.resize(threads);
    try {
        for (long t = 0; t < threads; ++t) shared_->threads.emplace_back(&Team::serve, this, t);
        run([](long) {}, [] {});  // all are bound now, or one says why it is not
    } catch (const std::system_error& refused) {
        const auto made = shared_->threads.size();
        close();
        if (long(made) == threads) throw;
        throw std::runtime_error("the system grants no more than " + std::to_string(made) + " of " +
                                 std::to_string(threads) + " threads (" + refused.code().message() + ")");
    } catch (...) {
        close();
        throw;
    }
}

Team::~Team() {
    if (forked())
        shared_.release();  // threads that it names are not in this process, and whoever ends them waits for ever
    else
        close();
}

bool Team::forked() const { return process_ != getpid(); }

void Team::close() {
    {
        const std::lock_guard lock(shared_->mutex);
        closing_ = true;
    }
    shared_->called.notify_all();
    for (std::thread& thread : shared_->threads) thread.join();
    shared_->threads.clear();
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
        std::unique_lock lock(shared_->mutex);
        shared_->called.wait(lock, [&] { return closing_ || run_ > done; });
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
        if (--running_ == 0) shared_->finished.notify_one();
    }
}

void Team::run(const std::function<void(long)>& work, const std::function<void()>& poll, double milliseconds) {
    if (forked())
        throw std::runtime_error(
            "this engine belongs to the process that made it, not to one forked from that: make "
            "another here, or start processes by `spawn`");
    std::unique_lock lock(shared_->mutex);
    work_ = &work;
    running_ = size();
    ++run_;
    shared_->called.notify_all();
    const std::chrono::duration<double, std::milli> pause(milliseconds);
    std::exception_ptr refused;
    while (!shared_->finished.wait_for(lock, pause, [&] { return running_ == 0; })) {
        if (refused) continue;
        lock.unlock();
        try {
            poll();
        } catch (...) {
            refused = std::current_exception();
        }
        lock.lock();
    }
    if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
    if (refused) std::rethrow_exception(refused);
}

}  // namespace nearfield
