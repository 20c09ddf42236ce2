#include "card_device.hpp"

#include <cstring>
#include <utility>

#include "machine/pages.hpp"

namespace nearfield::cuda {

constexpr int not_found = 500;                                // CUDA_ERROR_NOT_FOUND
constexpr int local_size_bytes = 3, register_count = 4;       // CU_FUNC_ATTRIBUTE_...
constexpr int most_block_memory = 8, block_memory_share = 9;  // of the same, set before a launch
constexpr std::size_t unasked_block_memory = std::size_t(48) << 10;
constexpr unsigned apart_from_stream_0 = 1, without_timing = 2;  // CU_STREAM_NON_BLOCKING, CU_EVENT_DISABLE_TIMING
constexpr int capture_of_this_thread = 1;                        // CU_STREAM_CAPTURE_MODE_THREAD_LOCAL

static Address address(const void* memory) { return reinterpret_cast<Address>(memory); }

CardDevice::CardDevice(const std::string& driver, int number, const std::vector<std::string>& cubins, bool urgent)
    : driver_(Driver::at(driver)), facts_(card_facts(driver_, number)), device_(driver_.devices().at(number)) {
    check(driver_.retain_context(&context_, device_), "cuDevicePrimaryCtxRetain");
    try {
        make_current();
        open_stream(urgent);
        if (facts_.node >= 0 && policy_refused(MemoryPolicy::bind, {facts_.node}).empty()) pinned_node_ = facts_.node;
        for (Half& half : halves_) {
            half.memory = pinned_pages(driver_, staged, pinned_node_);
            check(driver_.create_event(&half.sent, without_timing), "cuEventCreate");
        }
        for (void*& event : paces_) check(driver_.create_event(&event, without_timing), "cuEventCreate");
        for (const std::string& cubin : cubins) {
            modules_.push_back(nullptr);
            check(driver_.load_module(&modules_.back(), cubin.data()), "cuModuleLoadData");
        }
    } catch (...) {
        free_all();
        throw;
    }
}

void CardDevice::open_stream(bool urgent) {
    if (!urgent) return check(driver_.create_stream(&stream_, apart_from_stream_0), "cuStreamCreate");
    int least = 0, greatest = 0;  // lower numbers go first; both are 0 where a card knows no priorities
    check(driver_.priorities(&least, &greatest), "cuCtxGetStreamPriorityRange");
    check(driver_.create_urgent_stream(&stream_, apart_from_stream_0, greatest), "cuStreamCreateWithPriority");
}

CardDevice::~CardDevice() {
    driver_.set_context(context_);
    driver_.wait_for_stream(stream_);
    free_all();
}

// What has failed before fails here again, which says nothing new.
void CardDevice::free_all() {
    ring_.reset();
    for (void* graph : graphs_) driver_.destroy_executable(graph);
    for (void* module : modules_)
        if (module) driver_.unload_module(module);
    for (const Half& half : halves_) {
        if (half.sent) driver_.destroy_event(half.sent);
        if (half.memory) driver_.free_pinned(half.memory);
    }
    for (void* event : paces_)
        if (event) driver_.destroy_event(event);
    if (stream_) driver_.destroy_stream(stream_);
    driver_.release_context(device_);
}

// ---- memory

void* CardDevice::allocate(std::size_t bytes) {
    make_current();
    Address memory = 0;
    check(driver_.allocate(&memory, bytes), "cuMemAlloc");
    ++changes_;
    void* const made = reinterpret_cast<void*>(memory);
    clear(made, bytes);
    return made;
}

void CardDevice::release(void* memory) {
    driver_.set_context(context_);
    driver_.free(address(memory));  // waits for the card; its errors were those of a call before
    ++changes_;
}

void CardDevice::clear(void* memory, std::size_t bytes) {
    if (!bytes) return;
    make_current();
    check(driver_.set_bytes(address(memory), 0, bytes, stream_), "cuMemsetD8Async");
}

void CardDevice::write(void* to, const void* from, std::size_t bytes) {
    make_current();
    for (std::size_t first = 0; first < bytes; first += staged) {
        const std::size_t count = std::min(staged, bytes - first);
        const Half& half = halves_[half_ ^= 1];
        check(driver_.wait_for_event(half.sent), "cuEventSynchronize");
        std::memcpy(half.memory, static_cast<const char*>(from) + first, count);
        check(driver_.to_device(address(to) + first, half.memory, count, stream_), "cuMemcpyHtoDAsync");
        check(driver_.record_event(half.sent, stream_), "cuEventRecord");
    }
}

void CardDevice::read(void* to, const void* from, std::size_t bytes) {
    make_current();
    const auto arrived = [&](const Half& half, std::size_t first) {
        check(driver_.wait_for_event(half.sent), "cuEventSynchronize");
        std::memcpy(static_cast<char*>(to) + first, half.memory, std::min(staged, bytes - first));
    };
    for (std::size_t first = 0; first < bytes; first += staged) {
        const Half& half = halves_[half_ ^= 1];
        check(driver_.to_host(half.memory, address(from) + first, std::min(staged, bytes - first), stream_),
              "cuMemcpyDtoHAsync");
        check(driver_.record_event(half.sent, stream_), "cuEventRecord");
        if (first) arrived(halves_[half_ ^ 1], first - staged);
    }
    if (bytes) arrived(halves_[half_], (bytes - 1) / staged * staged);
}

void CardDevice::copy(void* to, const void* from, std::size_t bytes) {
    make_current();
    if (bytes) check(driver_.on_device(address(to), address(from), bytes, stream_), "cuMemcpyDtoDAsync");
}

void CardDevice::prepare_to_read_later() {
    if (ring_) return;
    make_current();
    ring_ = std::make_unique<PinnedRing>(driver_, most_read_later, pinned_node_);
}

void CardDevice::read_later(const void* from, std::size_t bytes) {
    make_current();
    ring_->send(from, bytes, stream_);
}

void CardDevice::fetch(void* to) {
    make_current();
    ring_->fetch(to);
}

std::size_t CardDevice::free_bytes() const {
    make_current();
    std::size_t free = 0, total = 0;
    check(driver_.memory_info(&free, &total), "cuMemGetInfo");
    return free;
}

// ---- kernels

const CardDevice::Loaded& CardDevice::loaded(const Kernel& kernel) {
    const auto known = kernels_.find(kernel.name);
    if (known != kernels_.end()) return known->second;
    Loaded found{nullptr, {kernel.name, 0, 0}};
    int result = not_found;
    for (void* module : modules_)
        if ((result = driver_.function(&found.function, module, kernel.name)) != not_found) break;
    check(result, "cuModuleGetFunction");
    const auto attribute = [&](int* value, int which) {
        check(driver_.function_attribute(value, which, found.function), "cuFuncGetAttribute");
    };
    attribute(&found.facts.registers, register_count), attribute(&found.facts.local_bytes, local_size_bytes);
    if (kernel.memory > unasked_block_memory)
        for (const auto& [which, value] : {std::pair(most_block_memory, int(kernel.memory)),
                                           std::pair(block_memory_share, 100)})  // per cent of a multiprocessor's
            check(driver_.set_function_attribute(found.function, which, value), "cuFuncSetAttribute");
    return kernels_.emplace(kernel.name, found).first->second;
}

void CardDevice::launch(const Kernel& kernel, long blocks, const void* arguments) {
    make_current();
    void* parameters[] = {const_cast<void*>(arguments)};
    check(driver_.launch(loaded(kernel).function, unsigned(blocks), 1, 1, threads_of_block, 1, 1,
                         unsigned(kernel.memory), stream_, parameters, nullptr),
          "cuLaunchKernel");
}

std::vector<CardDevice::KernelFacts> CardDevice::kernels() const {
    std::vector<KernelFacts> all;
    for (const auto& [name, each] : kernels_) all.push_back(each.facts);
    std::sort(all.begin(), all.end(), [](const auto& one, const auto& other) { return one.name < other.name; });
    return all;
}

// ---- order

void CardDevice::begin_graph() {
    make_current();
    check(driver_.begin_capture(stream_, capture_of_this_thread), "cuStreamBeginCapture");
}

void CardDevice::end_graph() {
    void *graph = nullptr, *executable = nullptr;
    check(driver_.end_capture(stream_, &graph), "cuStreamEndCapture");
    const int made = driver_.instantiate(&executable, graph, 0);
    driver_.destroy_graph(graph);
    check(made, "cuGraphInstantiate");
    graphs_.push_back(executable);
}

void CardDevice::replay(std::size_t graph) {
    make_current();
    check(driver_.launch_graph(graphs_.at(graph), stream_), "cuGraphLaunch");
}

void CardDevice::forget_graphs() {
    if (graphs_.empty()) return;
    wait();
    for (void* graph : graphs_) driver_.destroy_executable(graph);
    graphs_.clear();
}

void CardDevice::pace() {
    make_current();
    void* const event = paces_[paced_++ % ahead];
    check(driver_.wait_for_event(event), "cuEventSynchronize");  // one that was never recorded is done
    check(driver_.record_event(event, stream_), "cuEventRecord");
}

void CardDevice::wait() {
    make_current();
    check(driver_.wait_for_stream(stream_), "cuStreamSynchronize");
}

}  // namespace nearfield::cuda
