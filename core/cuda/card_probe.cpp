#include "card_probe.hpp"

#include <array>
#include <cstring>
#include <stdexcept>

#include "driver.hpp"

namespace nearfield::cuda {
namespace {

// What a probe takes of a card, given back when it ends.
struct Probe {
    Probe(const Driver& d, int number) : driver(d), device(d.devices().at(number)) {
        driver.check(driver.retain_context(&context, device), "cuDevicePrimaryCtxRetain");
    }
    ~Probe() {
        for (void* event : events)
            if (event) driver.destroy_event(event);
        for (const Address each : memory)
            if (each) driver.free(each);
        if (pinned) driver.free_pinned(pinned);
        if (stream) driver.destroy_stream(stream);
        driver.release_context(device);
    }
    void prepare(std::size_t bytes, bool on_card) {
        driver.check(driver.set_context(context), "cuCtxSetCurrent");
        driver.check(driver.create_stream(&stream, 1), "cuStreamCreate");
        for (void*& event : events) driver.check(driver.create_event(&event, 0), "cuEventCreate");
        for (Address& each : memory) {
            driver.check(driver.allocate(&each, bytes), "cuMemAlloc");
            driver.check(driver.set_bytes(each, 1, bytes, stream), "cuMemsetD8Async");
        }
        if (on_card) return;
        driver.check(driver.allocate_pinned(&pinned, bytes, 0), "cuMemHostAlloc");
        std::memset(pinned, 1, bytes);
    }
    double milliseconds() const {
        float found = 0;
        driver.check(driver.wait_for_stream(stream), "cuStreamSynchronize");
        driver.check(driver.elapsed(&found, events[0], events[1]), "cuEventElapsedTime");
        return found;
    }

    const Driver& driver;
    const int device;
    void *context = nullptr, *stream = nullptr, *pinned = nullptr;
    std::array<Address, 2> memory{};
    std::array<void*, 2> events{};
};

}  // namespace

std::vector<double> copy_seconds(const std::string& driver, int number, const std::string& kind, std::size_t bytes,
                                 int passes) {
    if (kind != "to_card" && kind != "to_host" && kind != "on_card")
        throw std::invalid_argument("a copy goes to_card, to_host or on_card");
    Probe probe(Driver::at(driver), number);
    const Driver& d = probe.driver;
    probe.prepare(bytes, kind == "on_card");
    std::vector<double> seconds;
    for (int pass = -1; pass < passes; ++pass) {
        d.check(d.record_event(probe.events[0], probe.stream), "cuEventRecord");
        if (kind == "to_card")
            d.check(d.to_device(probe.memory[0], probe.pinned, bytes, probe.stream), "cuMemcpyHtoDAsync");
        else if (kind == "to_host")
            d.check(d.to_host(probe.pinned, probe.memory[0], bytes, probe.stream), "cuMemcpyDtoHAsync");
        else
            d.check(d.on_device(probe.memory[1], probe.memory[0], bytes, probe.stream), "cuMemcpyDtoDAsync");
        d.check(d.record_event(probe.events[1], probe.stream), "cuEventRecord");
        const double taken = probe.milliseconds() / 1e3;
        if (pass >= 0) seconds.push_back(taken);
    }
    return seconds;
}

}  // namespace nearfield::cuda
