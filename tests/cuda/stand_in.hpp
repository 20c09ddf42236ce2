// A make-believe card for the stand-in driver (stand_in.cpp): memory that only its own work may touch, work that is done
// late and in any order that is allowed, faults on demand, and a clock that runs by a model.
#pragma once

#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "cpu/team.hpp"
#include "cuda/kernel.hpp"

namespace stand_in {

using namespace nearfield;
using Address = unsigned long long;

enum Result {
    done = 0,
    invalid = 1,
    out_of_memory = 2,
    no_device = 100,
    bad_image = 200,
    not_found = 500,
    not_ready = 600,
    failed = 719,
    not_in_a_capture = 900
};

// A number that a test has set in NEARFIELD_STAND_IN, as in "version=12040,fail_after=20".
inline double setting(const std::string& name, double otherwise) {
    const char* const text = std::getenv("NEARFIELD_STAND_IN");
    const std::string all = text ? "," + std::string(text) : "";
    const std::size_t at = all.find("," + name + "=");
    return at == std::string::npos ? otherwise : std::strtod(all.c_str() + at + name.size() + 2, nullptr);
}

// Held by a thread while it uses the card: a driver takes calls of several threads at once.
inline std::unique_lock<std::recursive_mutex> alone() {
    static std::recursive_mutex one;
    return std::unique_lock(one);
}

// The card's memory: addresses that the host can neither read nor write, except while the card works, or where a test
// has an MPI that takes cards ("readable").
class Memory {
public:
    static constexpr std::size_t room = std::size_t(4) << 30;
    Memory()
        : first_(
              static_cast<char*>(mmap(nullptr, room, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0))) {}
    static std::size_t total() { return std::size_t(setting("memory", 1 << 30)); }
    std::size_t free() const { return total() > used_ ? total() - used_ : 0; }
    Address allocate(std::size_t asked) {
        const auto held = alone();
        const std::size_t bytes = (asked + 511) / 512 * 512;
        if (bytes > free()) return 0;
        char* at = first_;
        for (const auto& [start, length] : taken_) {
            if (start - at >= std::ptrdiff_t(bytes)) break;
            at = start + length;
        }
        taken_[at] = bytes, asked_[at] = asked, used_ += bytes;
        open([&] { std::memset(at, 0xff, bytes); });  // what nobody wrote is NaN
        return reinterpret_cast<Address>(at);
    }
    bool release(Address address) {
        const auto held = alone();
        const auto found = taken_.find(reinterpret_cast<char*>(address));
        if (found == taken_.end()) return false;
        used_ -= found->second;
        give_back(found->first, found->second);
        asked_.erase(found->first);
        taken_.erase(found);
        return true;
    }
    bool holds(Address address, std::size_t bytes) const {
        const auto held = alone();
        char* const at = reinterpret_cast<char*>(address);
        auto next = taken_.upper_bound(at);
        if (next == taken_.begin()) return false;
        --next;
        return at + bytes <= next->first + next->second;
    }
    // What is allocated, at the lengths that were asked for.
    const std::map<char*, std::size_t>& buffers() const { return asked_; }
    template <class Work>
    void open(const Work& work) {
        const auto held = alone();
        mprotect(first_, room, PROT_READ | PROT_WRITE);
        work();
        if (!setting("readable", 0)) mprotect(first_, room, PROT_NONE);
    }

private:
    // Pages that lie wholly within; those that stay are what `open` takes its time for.
    static void give_back(char* at, std::size_t bytes) {
        constexpr std::uintptr_t page = 4096;
        const auto first = (reinterpret_cast<std::uintptr_t>(at) + page - 1) / page * page;
        const auto last = reinterpret_cast<std::uintptr_t>(at + bytes) / page * page;
        if (first < last) madvise(reinterpret_cast<void*>(first), last - first, MADV_DONTNEED);
    }

    char* const first_;
    std::map<char*, std::size_t> taken_, asked_;
    std::size_t used_ = 0;
};

// Told of each launch, before it is made and after, while the card's memory may be read.
using Observer = void (*)(const char* kernel, unsigned blocks, const char* argument, std::size_t bytes,
                          std::size_t shared, int made);

struct Card {
    Memory memory;
    Observer observer = nullptr;
    std::mt19937 chance{7};
    double clock = 0;                                        // seconds, of the model
    long launches = 0, graph_launches = 0, host_copies = 0;  // copies to or from the host
    int error = 0;                                           // once something has failed, all does

    // All blocks of a kernel, in any order, with threads forwards or backwards.
    void make(const cuda::Kernel& kernel, unsigned blocks, const std::vector<char>& arguments) {
        if (error) return;
        const double last = setting("fail_after", -1);
        if (last >= 0 && launches >= last) {
            error = failed;
            return;
        }
        ++launches, clock += 2e-6;
        std::vector<int> order(blocks);
        for (unsigned n = 0; n < blocks; ++n) order[n] = int(n);
        std::shuffle(order.begin(), order.end(), chance);
        std::vector<char> shared(kernel.memory);
        const auto all = [&] {
            for (const int number : order) {
                std::fill(shared.begin(), shared.end(), char(0xff));
                cuda::this_block = {number, bool(chance() & 1), shared.data()};
                kernel.make_block(arguments.data());
            }
        };
        const auto tell = [&](int made) {
            if (observer) observer(kernel.name, blocks, arguments.data(), arguments.size(), kernel.memory, made);
        };
        memory.open([&] {
            tell(0);
            if (kernel.flushes) {
                const FlushedDenormals flushed;
                all();
            } else {
                all();
            }
            tell(1);
        });
    }
};
inline Card& card() {
    static Card one;
    return one;
}

// Work in nodes; each waits for those that it names.
struct Node {
    std::function<void()> work;
    std::vector<std::size_t> after;
};
struct Graph {
    std::vector<Node> nodes;
    // In any order that the edges allow.
    void run() const {
        std::vector<bool> made(nodes.size());
        for (std::size_t count = 0; count < nodes.size(); ++count) {
            std::vector<std::size_t> ready;
            for (std::size_t n = 0; n < nodes.size(); ++n)
                if (!made[n] &&
                    std::all_of(nodes[n].after.begin(), nodes[n].after.end(), [&](std::size_t m) { return made[m]; }))
                    ready.push_back(n);
            const std::size_t next = ready.at(card().chance() % ready.size());
            nodes[next].work();
            made[next] = true;
        }
    }
};

struct Stream {
    std::deque<std::function<void()>> waiting;
    std::unique_ptr<Graph> capture;
    std::thread::id capturing;
    long begun = 0, ended = 0;
    int priority = 0;
    void add(std::function<void()> work) {
        const auto held = alone();
        if (capture) {
            std::vector<std::size_t> after;
            if (!capture->nodes.empty()) after = {capture->nodes.size() - 1};
            capture->nodes.push_back({std::move(work), after});
            return;
        }
        waiting.push_back(std::move(work)), ++begun;
        if (waiting.size() > 1000) run_until(ended + 500);  // as a card, which does not wait for ever
    }
    void run_until(long number) {
        const auto held = alone();
        for (; ended < number && !waiting.empty(); ++ended) {
            const auto work = std::move(waiting.front());
            waiting.pop_front();
            work();
        }
    }
    void run() { run_until(begun); }
};
struct Event {
    Stream* stream = nullptr;
    long number = 0;
    double at = 0;
};

}  // namespace stand_in
