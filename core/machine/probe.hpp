// What memory can do: the four loops of STREAM, reading, and a chase of pointers, with threads and pages where the
// caller wants them. Times only; which bytes count is the caller's business.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

namespace nearfield {

// A thread and its memory: processors it is bound to (none: left alone), node of its pages (-1: where it touches them).
struct MemoryWorker {
    std::vector<int> processors;
    int node = -1;
};

// Seconds of every pass, by loop: copy c = a, scale b = s c, add c = a + b, triad a = b + s c, in double precision.
// Each worker has three arrays of so many elements of its own; a pass begins and ends with all workers together.
// Ordinary stores, so that each written line is fetched first. Throws `std::runtime_error` where the sums come out
// wrong, `std::system_error` where a worker cannot be placed, `std::bad_alloc` where memory is short.
std::array<std::vector<double>, 4> stream_seconds(const std::vector<MemoryWorker>& workers, std::size_t elements,
                                                  int passes);

// Seconds of every pass in which each worker reads so many bytes of its own once.
std::vector<double> read_seconds(const std::vector<MemoryWorker>& workers, std::size_t bytes, int passes);

// Nanoseconds a load, pass by pass: each load takes its address from the one before, along one random cycle through
// all lines of 64 bytes of the given memory.
std::vector<double> chase_nanoseconds(const MemoryWorker& worker, std::size_t bytes, long loads, int passes);

}  // namespace nearfield
