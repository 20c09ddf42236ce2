// A card by its driver: one stream, on which copies and kernels follow each other; copies go through two pinned buffers
// of the host in turn, so that one is filled while the other travels.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "device.hpp"
#include "driver.hpp"
#include "pinned.hpp"

namespace nearfield::cuda {

class CardDevice final : public Device {
public:
    struct KernelFacts {
        std::string name;
        int registers, local_bytes;
    };
    // Card `number` of a driver, with kernels from these cubins; where it is urgent, blocks of its kernels go before
    // those of others that wait for room on the card. Errors: NoDriver, CardFull, CardError.
    CardDevice(const std::string& driver, int number, const std::vector<std::string>& cubins, bool urgent = false);
    CardDevice(const CardDevice&) = delete;
    CardDevice& operator=(const CardDevice&) = delete;
    ~CardDevice() override;

    void* allocate(std::size_t bytes) override;
    void release(void* memory) override;
    void write(void* to, const void* from, std::size_t bytes) override;
    void read(void* to, const void* from, std::size_t bytes) override;
    void copy(void* to, const void* from, std::size_t bytes) override;
    void clear(void* memory, std::size_t bytes) override;
    void prepare_to_read_later() override;
    bool can_read_later() const override { return ring_->has_room(); }
    void read_later(const void* from, std::size_t bytes) override;
    bool has_arrived() const override { return ring_->has_arrived(); }
    void fetch(void* to) override;
    void launch(const Kernel& kernel, long blocks, const void* arguments) override;
    void begin_graph() override;
    void end_graph() override;
    void replay(std::size_t graph) override;
    std::size_t graphs() const override { return graphs_.size(); }
    void forget_graphs() override;
    std::size_t block_memory() const override { return facts_.block_memory; }
    int multiprocessors() const override { return facts_.multiprocessors; }
    void pace() override;
    void wait() override;

    const CardFacts& facts() const { return facts_; }
    std::vector<KernelFacts> kernels() const;  // those launched so far
    std::size_t free_bytes() const;
    int pinned_node() const { return pinned_node_; }  // NUMA node of pinned buffers; -1: where the system put them

private:
    struct Loaded {
        void* function;
        KernelFacts facts;
    };
    struct Half {  // of the staging
        char* memory = nullptr;
        void* sent = nullptr;  // event: its bytes have gone
    };
    static constexpr std::size_t staged = std::size_t(8) << 20;  // bytes; from 4 MiB on a copy runs at its full rate
    static constexpr std::size_t ahead = 8;                      // paces that the host may be before the card

    void check(int result, const char* call) const { driver_.check(result, call); }
    void make_current() const { check(driver_.set_context(context_), "cuCtxSetCurrent"); }
    const Loaded& loaded(const Kernel& kernel);
    void free_all();
    void open_stream(bool urgent);

    const Driver& driver_;
    const CardFacts facts_;
    int device_ = 0, pinned_node_ = -1;
    void *context_ = nullptr, *stream_ = nullptr;
    std::array<Half, 2> halves_;
    int half_ = 0;
    std::unique_ptr<PinnedRing> ring_;  // once something is to be read later
    std::array<void*, ahead> paces_{};
    std::size_t paced_ = 0;
    std::vector<void*> modules_, graphs_;
    std::unordered_map<std::string, Loaded> kernels_;
};

}  // namespace nearfield::cuda
