// NVIDIA's driver by its C interface, loaded when a card is asked for: nothing of CUDA is needed to build, or to run
// without a card. Types are those of cuda.h: results and devices are int, addresses 64-bit numbers, handles pointers.
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>
#include <vector>

#include "device.hpp"

namespace nearfield::cuda {

struct NoDriver : std::runtime_error {
    using std::runtime_error::runtime_error;
};
struct CardError : std::runtime_error {
    using std::runtime_error::runtime_error;
};
struct CardFull : DeviceFull {
    using DeviceFull::DeviceFull;
};

using Address = unsigned long long;

// Name here, name in the library, arguments. All give 0, or the number of an error.
#define NEARFIELD_DRIVER_CALLS(X)                                                                                   \
    X(init, "cuInit", unsigned)                                                                                     \
    X(driver_version, "cuDriverGetVersion", int*)                                                                   \
    X(error_name, "cuGetErrorName", int, const char**)                                                              \
    X(error_text, "cuGetErrorString", int, const char**)                                                            \
    X(device_count, "cuDeviceGetCount", int*)                                                                       \
    X(device, "cuDeviceGet", int*, int)                                                                             \
    X(device_name, "cuDeviceGetName", char*, int, int)                                                              \
    X(device_memory, "cuDeviceTotalMem_v2", std::size_t*, int)                                                      \
    X(device_attribute, "cuDeviceGetAttribute", int*, int, int)                                                     \
    X(device_bus, "cuDeviceGetPCIBusId", char*, int, int)                                                           \
    X(retain_context, "cuDevicePrimaryCtxRetain", void**, int)                                                      \
    X(release_context, "cuDevicePrimaryCtxRelease_v2", int)                                                         \
    X(set_context, "cuCtxSetCurrent", void*)                                                                        \
    X(memory_info, "cuMemGetInfo_v2", std::size_t*, std::size_t*)                                                   \
    X(allocate, "cuMemAlloc_v2", Address*, std::size_t)                                                             \
    X(free, "cuMemFree_v2", Address)                                                                                \
    X(allocate_pinned, "cuMemHostAlloc", void**, std::size_t, unsigned)                                             \
    X(free_pinned, "cuMemFreeHost", void*)                                                                          \
    X(to_device, "cuMemcpyHtoDAsync_v2", Address, const void*, std::size_t, void*)                                  \
    X(to_host, "cuMemcpyDtoHAsync_v2", void*, Address, std::size_t, void*)                                          \
    X(on_device, "cuMemcpyDtoDAsync_v2", Address, Address, std::size_t, void*)                                      \
    X(set_bytes, "cuMemsetD8Async", Address, unsigned char, std::size_t, void*)                                     \
    X(create_stream, "cuStreamCreate", void**, unsigned)                                                            \
    X(create_urgent_stream, "cuStreamCreateWithPriority", void**, unsigned, int)                                    \
    X(priorities, "cuCtxGetStreamPriorityRange", int*, int*)                                                        \
    X(destroy_stream, "cuStreamDestroy_v2", void*)                                                                  \
    X(wait_for_stream, "cuStreamSynchronize", void*)                                                                \
    X(stream_waits, "cuStreamWaitEvent", void*, void*, unsigned)                                                    \
    X(begin_capture, "cuStreamBeginCapture_v2", void*, int)                                                         \
    X(end_capture, "cuStreamEndCapture", void*, void**)                                                             \
    X(create_event, "cuEventCreate", void**, unsigned)                                                              \
    X(destroy_event, "cuEventDestroy_v2", void*)                                                                    \
    X(record_event, "cuEventRecord", void*, void*)                                                                  \
    X(wait_for_event, "cuEventSynchronize", void*)                                                                  \
    X(query_event, "cuEventQuery", void*)                                                                           \
    X(elapsed, "cuEventElapsedTime", float*, void*, void*)                                                          \
    X(load_module, "cuModuleLoadData", void**, const void*)                                                         \
    X(unload_module, "cuModuleUnload", void*)                                                                       \
    X(function, "cuModuleGetFunction", void**, void*, const char*)                                                  \
    X(function_attribute, "cuFuncGetAttribute", int*, int, void*)                                                   \
    X(set_function_attribute, "cuFuncSetAttribute", void*, int, int)                                                \
    X(launch, "cuLaunchKernel", void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void*, \
      void**, void**)                                                                                               \
    X(instantiate, "cuGraphInstantiateWithFlags", void**, void*, unsigned long long)                                \
    X(launch_graph, "cuGraphLaunch", void*, void*)                                                                  \
    X(destroy_graph, "cuGraphDestroy", void*)                                                                       \
    X(destroy_executable, "cuGraphExecDestroy", void*)

class Driver {
public:
    // The library of this path or name, loaded once. Errors: NoDriver; CardError where it refuses to begin.
    static const Driver& at(const std::string& path);
    // Throws where a call has failed: CardFull for want of memory, else CardError with its name and the driver's words.
    void check(int result, const char* call) const;
    int version() const;  // of CUDA that it knows: 1000 major + 10 minor
    std::vector<int> devices() const;

#define NEARFIELD_DECLARE(name, symbol, ...) int (*name)(__VA_ARGS__) = nullptr;
    NEARFIELD_DRIVER_CALLS(NEARFIELD_DECLARE)
#undef NEARFIELD_DECLARE

private:
    explicit Driver(const std::string& path);
};

// A card as its driver describes it.
struct CardFacts {
    std::string name, bus;
    int major, minor;  // of its architecture
    std::size_t memory;
    int multiprocessors;
    std::size_t block_memory;  // bytes that a block of threads may share
    double memory_rate;        // bytes a second, by its clock and width
    int node;                  // NUMA node that it is on; -1: the system does not say
};
CardFacts card_facts(const Driver& driver, int number);
// Bytes that are free on a card now. Needs a context on it, which is made for the question where there is none.
std::size_t free_memory(const Driver& driver, int number);

}  // namespace nearfield::cuda
