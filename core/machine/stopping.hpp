// Whether whoever waits for a long piece of work wants it ended: Ctrl-C, where Python waits.
#pragma once

#include <atomic>
#include <chrono>
#include <exception>

namespace nearfield {

// Thrown by work that was asked to end, when all its threads have.
struct Stopped : std::exception {
    const char* what() const noexcept override { return "asked to end"; }
};

// What is asked, for the whole process; none: work always goes on. It is called by the thread that waits.
inline std::atomic<bool (*)()> end_wanted{nullptr};

// Asks now and then.
class Watch {
public:
    bool stops() {
        const auto now = Clock::now();
        if (now - asked_ < pause) return false;
        asked_ = now;
        const auto ask = end_wanted.load();
        return ask && ask();
    }

    static constexpr std::chrono::milliseconds pause{100};

private:
    using Clock = std::chrono::steady_clock;
    Clock::time_point asked_ = Clock::now();
};

}  // namespace nearfield
