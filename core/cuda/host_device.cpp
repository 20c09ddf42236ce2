#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>
#include <vector>

#include "cpu/team.hpp"
#include "device.hpp"

namespace nearfield::cuda {

void* HostDevice::allocate(std::size_t bytes) {
    constexpr std::size_t line = 64;
    void* const memory = std::aligned_alloc(line, (bytes + line - 1) / line * line);
    if (!memory) throw std::bad_alloc();
    std::memset(memory, 0, bytes);
    return memory;
}
void HostDevice::release(void* memory) { std::free(memory); }
void HostDevice::write(void* to, const void* from, std::size_t bytes) {
    if (bytes) std::memcpy(to, from, bytes);  // of nothing there may be no address
}
void HostDevice::read(void* to, const void* from, std::size_t bytes) const {
    if (bytes) std::memcpy(to, from, bytes);
}
void HostDevice::clear(void* memory, std::size_t bytes) { std::memset(memory, 0, bytes); }

void HostDevice::launch(const Kernel& kernel, long blocks, const void* arguments) {
    std::vector<char> memory(kernel.memory);
    const auto make = [&] {
        for (long n = 0; n < blocks; ++n) {
            std::fill(memory.begin(), memory.end(), char(0xff));  // NaN
            this_block = {int(backwards_ ? blocks - 1 - n : n), backwards_, memory.data()};
            kernel.make_block(arguments);
        }
    };
    if (!kernel.flushes) return make();
    const FlushedDenormals flushed;
    make();
}

}  // namespace nearfield::cuda
