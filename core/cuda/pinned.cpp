#include "pinned.hpp"

#include <algorithm>
#include <cctype>
#include <cstring>
#include <optional>
#include <vector>

#include "machine/number_files.hpp"
#include "machine/pages.hpp"

namespace nearfield::cuda {

constexpr unsigned apart_from_stream_0 = 1, without_timing = 2;  // CU_STREAM_NON_BLOCKING, CU_EVENT_DISABLE_TIMING
constexpr int not_ready = 600;                                   // CUDA_ERROR_NOT_READY

int node_of_bus(const std::string& bus, const std::string& devices) {
    std::string name = bus;
    std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return char(std::tolower(c)); });
    const std::vector<int> node = numbers_in_file(devices + "/" + name + "/numa_node");
    return node.empty() ? -1 : node[0];
}

char* pinned_pages(const Driver& driver, std::size_t bytes, int node) {
    std::optional<ThreadPolicy> policy;  // of the pages that the driver takes in this thread's name
    if (node >= 0) policy.emplace(MemoryPolicy::bind, std::vector<int>{node});
    void* memory = nullptr;
    driver.check(driver.allocate_pinned(&memory, bytes, 0), "cuMemHostAlloc");
    return static_cast<char*>(memory);
}

PinnedRing::PinnedRing(const Driver& driver, std::size_t bytes_of_slot, int node) : driver_(driver) {
    try {
        driver_.check(driver_.create_stream(&stream_, apart_from_stream_0), "cuStreamCreate");
        for (Slot& slot : slots_) {
            slot.memory = pinned_pages(driver_, bytes_of_slot, node);
            for (void** event : {&slot.made, &slot.arrived})
                driver_.check(driver_.create_event(event, without_timing), "cuEventCreate");
        }
    } catch (...) {
        free_all();
        throw;
    }
}

PinnedRing::~PinnedRing() {
    driver_.wait_for_stream(stream_);
    free_all();
}

void PinnedRing::free_all() {
    for (const Slot& slot : slots_) {
        for (void* event : {slot.made, slot.arrived})
            if (event) driver_.destroy_event(event);
        if (slot.memory) driver_.free_pinned(slot.memory);
    }
    if (stream_) driver_.destroy_stream(stream_);
}

void PinnedRing::send(const void* from, std::size_t bytes, void* after) {
    Slot& slot = slots_[sent_ % slots];
    slot.bytes = bytes;
    driver_.check(driver_.record_event(slot.made, after), "cuEventRecord");
    driver_.check(driver_.stream_waits(stream_, slot.made, 0), "cuStreamWaitEvent");
    driver_.check(driver_.to_host(slot.memory, reinterpret_cast<Address>(from), bytes, stream_), "cuMemcpyDtoHAsync");
    driver_.check(driver_.record_event(slot.arrived, stream_), "cuEventRecord");
    ++sent_;
}

bool PinnedRing::has_arrived() const {
    if (sent_ == fetched_) return false;
    const int found = driver_.query_event(slots_[fetched_ % slots].arrived);
    if (found != not_ready) driver_.check(found, "cuEventQuery");
    return found != not_ready;
}

void PinnedRing::fetch(void* to) {
    const Slot& slot = slots_[fetched_ % slots];
    driver_.check(driver_.wait_for_event(slot.arrived), "cuEventSynchronize");
    std::memcpy(to, slot.memory, slot.bytes);
    ++fetched_;
}

}  // namespace nearfield::cuda
