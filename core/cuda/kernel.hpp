// Kernels as the host knows them, and the block that the make-believe device is making.
#pragma once

#include <cstddef>

namespace nearfield::cuda {

struct Kernel {
    const char* name;
    void (*make_block)(const void* arguments);  // on the make-believe device: all threads of `this_block`
    std::size_t arguments, memory;              // bytes of its argument, of its block's memory
    bool flushes;                               // denormals by the processor's switch, else its numbers do
};

struct ThisBlock {
    int number;
    bool backwards;
    char* memory;
};
inline thread_local ThisBlock this_block{};

// One pair each: in single precision, in double. Each is the file of its name, or of its first word.
extern const Kernel tick[2], half_step_electric[2], half_step_magnetic[2], sweep[2], sweep_carry[2], poles[2],
    points[2], remember_points[2], incident[2], coupling[2], seam[2], spectrum[2], copy_box[2], energy[2];

}  // namespace nearfield::cuda
