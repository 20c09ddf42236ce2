// Sets of processors and the binding of threads to them, by raw system calls: any number of processors, never the
// 1024 of a fixed `cpu_set_t`. What the system refuses is a `std::system_error`; elsewhere than on Linux it is ENOSYS.
#pragma once

#include <vector>

namespace nearfield {

// A set as the kernel takes it: processor n is bit n mod 64 of word n / 64.
using Bitmap = std::vector<unsigned long>;
Bitmap bitmap_of(const std::vector<int>& numbers);
std::vector<int> numbers_in(const Bitmap& bitmap);  // ascending

// Binds the calling thread to these processors and reads back that it is: the kernel takes a set of which a part
// is allowed and silently drops the rest, which is refused here (EINVAL). An empty set leaves the thread as it is.
void bind_this_thread(const std::vector<int>& processors);

// Processors that a thread of this process may run on; 0: the calling one.
std::vector<int> allowed_processors(int thread_id = 0);

int this_thread_id();
int current_processor();               // where the calling thread runs now
int current_node();                    // and the NUMA node of that
int node_of_processor(int processor);  // -1 where the system does not say

}  // namespace nearfield
