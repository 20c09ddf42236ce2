// Which process a party of a ring is, whether it still lives, and how it is woken: raw Linux system calls.
#pragma once

#include <chrono>

#include "layout.hpp"

namespace nearfield::stream {

using Nanoseconds = std::chrono::nanoseconds;

struct Process {
    std::int32_t number = 0;
    std::uint64_t began = 0;  // clock ticks since the machine started
    std::uint64_t space = 0;  // its name space of process numbers
    bool operator==(const Process&) const = default;
};

Process this_process();
Process load(const Identity& identity);
void store(Identity& identity, const Process& process);

// Whether the process has not ended (a zombie has). One of another name space counts as alive: nobody here can tell.
bool alive(const Process& process);
// Whether its number means anything here.
bool in_reach(const Process& process);

// Sleeps while the word has this value, at most so long; wakes all that sleep on it, in any process.
void sleep_while(Word& word, std::uint32_t value, Nanoseconds at_most);
void wake(Word& word);

// News for whoever sleeps on `bell`; the system is called only if someone does.
void ring(Word& bell, Word& sleeps);

// Waits until `ready()`, a moment busily, then asleep on the bell; returns whether it is. Asks again when it was rung.
template <class Ready>
bool wait(Word& bell, Word& sleeps, Nanoseconds at_most, Ready ready) {
    constexpr int spins = 200;  // some ten microseconds, about what it costs to be woken
    std::uint32_t heard = bell.load(std::memory_order_seq_cst);
    if (ready()) return true;
    for (int n = 0; n < spins; ++n) {
        const std::uint32_t now = bell.load(std::memory_order_acquire);
        if (now != heard && ready()) return true;
        heard = now;
#if defined(__x86_64__)
        __builtin_ia32_pause();
#endif
    }
    const auto end = std::chrono::steady_clock::now() + at_most;
    sleeps.fetch_add(1, std::memory_order_seq_cst);
    bool found = false;
    for (;;) {
        const std::uint32_t value = bell.load(std::memory_order_seq_cst);
        if ((found = ready())) break;
        const auto left = end - std::chrono::steady_clock::now();
        if (left <= left.zero()) break;
        sleep_while(bell, value, left);
    }
    sleeps.fetch_sub(1, std::memory_order_seq_cst);
    return found;
}

}  // namespace nearfield::stream
