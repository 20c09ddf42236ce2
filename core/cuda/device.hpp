// What the engine asks of a device: memory, copies, kernels in their order. A card is one (card_device.hpp); the
// make-believe device runs the same kernels in this process.
#pragma once

#include <algorithm>
#include <cstddef>
#include <deque>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "cpu/team.hpp"
#include "kernel.hpp"
#include "plan.h"

namespace nearfield::cuda {

struct DeviceFull : std::runtime_error {
    using std::runtime_error::runtime_error;
};

class Device {
public:
    virtual ~Device() = default;
    virtual void* allocate(std::size_t bytes) = 0;  // zeros, on a multiple of 64 bytes; throws DeviceFull
    virtual void release(void* memory) = 0;
    virtual void write(void* to, const void* from, std::size_t bytes) = 0;
    virtual void read(void* to, const void* from, std::size_t bytes) = 0;
    virtual void copy(void* to, const void* from, std::size_t bytes) = 0;  // both on this device
    virtual void clear(void* memory, std::size_t bytes) = 0;
    // Reads that are made in their turn while more is launched, at most so many bytes each, and fetched in their order.
    static constexpr std::size_t most_read_later = std::size_t(8) << 20;
    virtual void prepare_to_read_later() {}   // before the first one
    virtual bool can_read_later() const = 0;  // else one must be fetched first
    virtual void read_later(const void* from, std::size_t bytes) = 0;
    virtual bool has_arrived() const = 0;  // the oldest that was not fetched
    virtual void fetch(void* to) = 0;      // that one; waits for it
    // After everything launched or written before, before everything read or launched after.
    virtual void launch(const Kernel& kernel, long blocks, const void* arguments) = 0;
    // Launches between these two are kept as a graph, not made; nothing else is asked of the device there.
    virtual void begin_graph() = 0;
    virtual void end_graph() = 0;
    virtual void replay(std::size_t graph) = 0;  // makes the launches of a graph, numbered from 0, in their order
    virtual std::size_t graphs() const = 0;
    virtual void forget_graphs() = 0;
    virtual std::size_t block_memory() const = 0;  // bytes that a block may have
    virtual int multiprocessors() const = 0;       // each makes some blocks at once
    virtual void pace() {}                         // waits until the device is not far behind
    virtual void wait() {}                         // until all is done
    // Allocations and releases so far: graphs made before the last of them may hold addresses that are gone.
    std::size_t changes() const { return changes_; }
    // Of threads of the processor besides the caller's, as /proc names them.
    virtual std::vector<long> thread_ids() const { return {}; }

protected:
    std::size_t changes_ = 0;
};

// This process, with a memory of its own, so that a copy that is forgotten shows. Blocks and the threads of a block run
// forwards, or backwards to find those that race; the blocks of a large launch are shared out to so many threads of the
// processor.
class HostDevice final : public Device {
public:
    explicit HostDevice(bool backwards, long threads = 1) : backwards_(backwards) {
        if (threads > 1) team_ = std::make_unique<Team>(threads, std::vector<Processors>{});
    }
    std::vector<long> thread_ids() const override { return team_ ? team_->system_ids() : std::vector<long>{}; }
    void* allocate(std::size_t bytes) override;
    void release(void* memory) override;
    void write(void* to, const void* from, std::size_t bytes) override;
    void read(void* to, const void* from, std::size_t bytes) override;
    void copy(void* to, const void* from, std::size_t bytes) override { read(to, from, bytes); }
    void clear(void* memory, std::size_t bytes) override;
    bool can_read_later() const override { return late_.size() < 2; }
    void read_later(const void* from, std::size_t bytes) override;
    bool has_arrived() const override { return !late_.empty(); }
    void fetch(void* to) override;
    void launch(const Kernel& kernel, long blocks, const void* arguments) override;
    void begin_graph() override;
    void end_graph() override { keeps_ = false; }
    void replay(std::size_t graph) override;
    std::size_t graphs() const override { return graphs_.size(); }
    void forget_graphs() override { graphs_.clear(); }
    std::size_t block_memory() const override { return std::size_t(227) << 10; }  // as on cards of 9.0 and 10.0
    int multiprocessors() const override { return 132; }                          // as on one of 9.0

private:
    struct Node {
        const Kernel* kernel;
        long blocks;
        std::vector<char> arguments;
    };
    void make_blocks(const Kernel& kernel, long first, long last, long blocks, const void* arguments) const;

    const bool backwards_;
    std::unique_ptr<Team> team_;  // of more than one thread
    bool keeps_ = false;          // launches, for the last graph
    std::vector<std::vector<Node>> graphs_;
    std::deque<std::vector<char>> late_;
};

template <class Real>
using Number = std::conditional_t<std::is_same_v<Real, double>, Wide, Real>;  // as kernels read it

// An array on a device.
template <class T>
class Buffer {
public:
    explicit Buffer(Device& device) : device_(&device) {}
    Buffer(Device& device, std::size_t count) : device_(&device) { resize(count); }
    Buffer(Buffer&& other) noexcept
        : device_(other.device_), data_(std::exchange(other.data_, nullptr)), count_(other.count_), room_(other.room_) {
    }
    Buffer& operator=(Buffer&& other) noexcept {
        std::swap(device_, other.device_), std::swap(data_, other.data_), std::swap(count_, other.count_);
        std::swap(room_, other.room_);
        return *this;
    }
    ~Buffer() {
        if (data_) device_->release(data_);
    }

    T* data() const { return data_; }
    std::size_t size() const { return count_; }
    std::size_t bytes() const { return count_ * sizeof(T); }
    // Another length; what was there is lost, and zero. Where there is room already, its address stays.
    void resize(std::size_t count) {
        count_ = count;
        if (data_ && count <= room_) return clear();
        if (data_) device_->release(data_);
        data_ = nullptr, room_ = 0;
        data_ = static_cast<T*>(device_->allocate(std::max<std::size_t>(1, bytes())));
        room_ = count;
    }
    void clear() { device_->clear(data_, bytes()); }
    // All of it. Doubles are flushed on the way, see Wide.
    template <class U>
    void write(const U* from) {
        static_assert(sizeof(U) == sizeof(T));
        if constexpr (std::is_same_v<U, double>) {
            std::vector<Wide> part(std::min<std::size_t>(count_, 65536));
            for (std::size_t first = 0; first < count_; first += part.size()) {
                const std::size_t count = std::min(part.size(), count_ - first);
                for (std::size_t n = 0; n < count; ++n) part[n] = flushed(from[first + n]);
                device_->write(data_ + first, part.data(), count * sizeof(T));
            }
        } else {
            device_->write(data_, from, bytes());
        }
    }
    template <class U>
    void assign(const std::vector<U>& values) {
        if (values.size() != count_ || !data_) resize(values.size());
        if (count_) write(values.data());
    }
    template <class U>
    void read(U* to) const {
        static_assert(sizeof(U) == sizeof(T));
        device_->read(to, data_, bytes());
    }

private:
    Device* device_;
    T* data_ = nullptr;
    std::size_t count_ = 0, room_ = 0;
};

inline long blocks_for(long threads) { return (threads + threads_of_block - 1) / threads_of_block; }

}  // namespace nearfield::cuda
