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

// One pair each: in single precision, in double; a third one, where there is one, has fields in 16 bits (stored.h).
// Each is in the file of its name, or of its first words.
extern const Kernel tick[2], sweep_one[2], sweep_two[2], sweep_carry[2], halo[2];
extern const Kernel half_step_electric[3], half_step_magnetic[3], poles[3], points[3], remember_points[3], incident[3],
    coupling[3], seam[3], spectrum[3], copy_box[3], energy[3];
extern const Kernel sweep_slab_one, sweep_slab_two;  // in single precision

}  // namespace nearfield::cuda
