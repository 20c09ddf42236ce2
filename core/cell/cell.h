// What the headers of this folder share. Each of them is the arithmetic of one operation at one sample, written once:
// rows of the CPU and kernels of a GPU are loops around it. V is a scalar or a vector of neighbouring samples.
//
// The order of the operations is part of a header: compiled without contraction, it gives the same bits everywhere.
// Dialect: what NVRTC compiles without standard headers. No includes but of this folder, nothing of std, no exceptions,
// no virtual functions; numbers come by value, memory by pointers or by small function objects of the caller.
#pragma once

#if defined(__CUDACC__)
#define NEARFIELD_CELL __device__ __forceinline__
#else
#define NEARFIELD_CELL __attribute__((always_inline)) inline  // else instruction sets would share one scalar instance
#endif
