// Memory of the host that a card's copies may reach by themselves, on the card's NUMA node, and reads that travel beside
// the card's kernels.
#pragma once

#include <array>
#include <cstddef>
#include <string>

#include "driver.hpp"

namespace nearfield::cuda {

// The NUMA node of a device on the PCI bus as the system's files have it; -1 where they do not say.
int node_of_bus(const std::string& bus, const std::string& devices = "/sys/bus/pci/devices");

// Pinned pages. `node`: where they are to lie; -1 leaves it to the system.
char* pinned_pages(const Driver& driver, std::size_t bytes, int node);

// Reads of a card's memory in a stream of their own: each begins when what was launched before it is done, and lands in
// a ring of pinned buffers, from which it is fetched in the order of the calls.
class PinnedRing {
public:
    static constexpr std::size_t slots = 8;
    PinnedRing(const Driver& driver, std::size_t bytes_of_slot, int node);
    PinnedRing(const PinnedRing&) = delete;
    PinnedRing& operator=(const PinnedRing&) = delete;
    ~PinnedRing();

    bool has_room() const { return sent_ - fetched_ < slots; }
    void send(const void* from, std::size_t bytes, void* after);  // `after`: the stream of the launches
    bool has_arrived() const;                                     // the oldest that was not fetched
    void fetch(void* to);                                         // that one; waits for it

private:
    struct Slot {
        char* memory = nullptr;
        void *made = nullptr, *arrived = nullptr;  // events
        std::size_t bytes = 0;
    };
    void free_all();

    const Driver& driver_;
    void* stream_ = nullptr;
    std::array<Slot, slots> slots_;
    std::size_t sent_ = 0, fetched_ = 0;
};

}  // namespace nearfield::cuda
