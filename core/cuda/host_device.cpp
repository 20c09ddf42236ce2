#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "device.hpp"

namespace nearfield::cuda {

void* HostDevice::allocate(std::size_t bytes) {
    constexpr std::size_t line = 64;
    void* const memory = std::aligned_alloc(line, (bytes + line - 1) / line * line);
    if (!memory) throw DeviceFull("no memory is left for the make-believe device");
    std::memset(memory, 0, bytes);
    ++changes_;
    return memory;
}
void HostDevice::release(void* memory) {
    std::free(memory);
    ++changes_;
}
void HostDevice::write(void* to, const void* from, std::size_t bytes) {
    if (bytes) std::memcpy(to, from, bytes);  // of nothing there may be no address
}
void HostDevice::read(void* to, const void* from, std::size_t bytes) {
    if (bytes) std::memcpy(to, from, bytes);
}
void HostDevice::read_later(const void* from, std::size_t bytes) {
    const auto* const first = static_cast<const char*>(from);
    late_.emplace_back(first, first + bytes);
}
void HostDevice::fetch(void* to) {
    std::memcpy(to, late_.front().data(), late_.front().size());
    late_.pop_front();
}
void HostDevice::clear(void* memory, std::size_t bytes) { std::memset(memory, 0, bytes); }

void HostDevice::make_blocks(const Kernel& kernel, long first, long last, long blocks, const void* arguments) const {
    std::vector<char> memory(kernel.memory);
    for (long n = first; n < last; ++n) {
        std::fill(memory.begin(), memory.end(), char(0xff));  // NaN
        this_block = {int(backwards_ ? blocks - 1 - n : n), backwards_, memory.data()};
        kernel.make_block(arguments);
    }
}

void HostDevice::launch(const Kernel& kernel, long blocks, const void* arguments) {
    if (keeps_) {
        const auto* const bytes = static_cast<const char*>(arguments);
        graphs_.back().push_back({&kernel, blocks, {bytes, bytes + kernel.arguments}});
        return;
    }
    constexpr long worth_while = 16;  // blocks of a thread; fewer cost less than to wake it
    if (team_ && blocks >= worth_while * team_->size()) {
        const long threads = team_->size();
        team_->run(
            [&](long thread) {
                make_blocks(kernel, blocks * thread / threads, blocks * (thread + 1) / threads, blocks, arguments);
            },
            [] {});
    } else if (kernel.flushes) {
        const FlushedDenormals flushed;
        make_blocks(kernel, 0, blocks, blocks, arguments);
    } else {
        make_blocks(kernel, 0, blocks, blocks, arguments);
    }
}

void HostDevice::begin_graph() {
    graphs_.emplace_back();
    keeps_ = true;
}
void HostDevice::replay(std::size_t graph) {
    for (const Node& node : graphs_.at(graph)) launch(*node.kernel, node.blocks, node.arguments.data());
}

}  // namespace nearfield::cuda
