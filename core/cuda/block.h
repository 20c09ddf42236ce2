// A block of threads, on a card or in a loop of the processor: the dialect in which all kernels are written.
//
// A kernel is a row of phases. A phase is what every thread of a block does until the next barrier: on a card it ends
// in one, in the build for the processor it is a loop over the threads. What threads hand to each other between phases
// lies in the block's memory; within a phase nobody reads there what another thread writes. A body may `return`, which
// ends its thread's part of the phase and no more.
//
// The build for the processor runs threads and blocks forwards or backwards, and fills the block's memory with NaN, so
// that a race or a word that nobody wrote shows. As in cell/cell.h: no standard headers, no exceptions, no virtual
// functions; arguments come as one struct by value.
#pragma once

#include "cell/cell.h"

#if defined(__CUDACC__)
#define NEARFIELD_ALIAS
#else
#include "cuda/kernel.hpp"
#define NEARFIELD_ALIAS [[gnu::may_alias]]
#endif

namespace nearfield::cuda {

constexpr int threads_of_block = 256;  // of every kernel
constexpr int lanes_of_block = 16;     // cells of a block of a row, as core/layout.hpp counts

#if defined(__CUDACC__)

NEARFIELD_CELL int block_number() { return int(blockIdx.x); }
// Every thread does `body(thread)`, and waits until all have.
template <class Body>
NEARFIELD_CELL void phase(const Body& body) {
    body(int(threadIdx.x));
    __syncthreads();
}
// The last phase of a kernel: nobody waits.
template <class Body>
NEARFIELD_CELL void last_phase(const Body& body) {
    body(int(threadIdx.x));
}
// What a thread keeps from phase to phase: registers on a card, an entry of an array otherwise.
template <class Kept>
struct Each {
    Kept mine;
};
template <class Kept, class Body>
NEARFIELD_CELL void phase(Each<Kept>& each, const Body& body) {
    body(each.mine, int(threadIdx.x));
    __syncthreads();
}
template <class T>
NEARFIELD_CELL T& block_memory() {
    extern __shared__ __align__(16) char bytes[];
    return *reinterpret_cast<T*>(bytes);
}
NEARFIELD_CELL void add_digit(long long* digit, long long value) {
    atomicAdd(reinterpret_cast<unsigned long long*>(digit), static_cast<unsigned long long>(value));
}

// A kernel in both precisions, from a function template of a number type with one argument. `together`: blocks that are
// to have registers at once on a multiprocessor, in single precision; 7.5, 8.6, 8.9 and 12.0 have memory for one alone.
#if __CUDA_ARCH__ == 750 || __CUDA_ARCH__ == 860 || __CUDA_ARCH__ == 890 || __CUDA_ARCH__ >= 1200
#define NEARFIELD_TOGETHER(together) 1
#else
#define NEARFIELD_TOGETHER(together) together
#endif
#define NEARFIELD_KERNEL_OF(name, Arguments, together, memory, memory_in_double, ...)                            \
    extern "C" __global__ void __launch_bounds__(256, NEARFIELD_TOGETHER(together))                              \
        name##_single(const __grid_constant__ Arguments<float> a) {                                              \
        __VA_ARGS__(float, a);                                                                                   \
    }                                                                                                            \
    extern "C" __global__ void __launch_bounds__(256) name##_double(const __grid_constant__ Arguments<Wide> a) { \
        __VA_ARGS__(Wide, a);                                                                                    \
    }
// In single precision alone.
#define NEARFIELD_KERNEL_IN_SINGLE(name, Arguments, memory, ...)                                                  \
    extern "C" __global__ void __launch_bounds__(256) name##_single(const __grid_constant__ Arguments<float> a) { \
        __VA_ARGS__(float, a);                                                                                    \
    }

#else

inline int block_number() { return this_block.number; }
template <class Body>
inline void phase(const Body& body) {
    for (int n = 0; n < threads_of_block; ++n) body(this_block.backwards ? threads_of_block - 1 - n : n);
}
template <class Body>
inline void last_phase(const Body& body) {
    phase(body);
}
template <class Kept>
struct Each {
    Kept of[threads_of_block];
};
template <class Kept, class Body>
inline void phase(Each<Kept>& each, const Body& body) {
    phase([&](int thread) { body(each.of[thread], thread); });
}
template <class T>
T& block_memory() {
    return *reinterpret_cast<T*>(this_block.memory);
}
inline void add_digit(long long* digit, long long value) { __atomic_fetch_add(digit, value, __ATOMIC_RELAXED); }

#define NEARFIELD_KERNEL_OF(name, Arguments, together, memory, memory_in_double, ...)                          \
    const Kernel name[2] = {                                                                                   \
        {#name "_single", [](const void* p) { __VA_ARGS__(float, *static_cast<const Arguments<float>*>(p)); }, \
         sizeof(Arguments<float>), memory, true},                                                              \
        {#name "_double", [](const void* p) { __VA_ARGS__(Wide, *static_cast<const Arguments<Wide>*>(p)); },   \
         sizeof(Arguments<Wide>), memory_in_double, false}};
#define NEARFIELD_KERNEL_IN_SINGLE(name, Arguments, memory, ...)                                              \
    const Kernel name = {#name "_single",                                                                     \
                         [](const void* p) { __VA_ARGS__(float, *static_cast<const Arguments<float>*>(p)); }, \
                         sizeof(Arguments<float>), memory, true};

#endif

// With as many bytes of the block's memory in either precision.
#define NEARFIELD_KERNEL(name, Arguments, memory, ...) \
    NEARFIELD_KERNEL_OF(name, Arguments, 1, memory, memory, __VA_ARGS__)

}  // namespace nearfield::cuda
