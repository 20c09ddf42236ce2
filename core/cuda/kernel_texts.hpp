// The text of the kernels and of what they include, as the build found them: what a card gets fits the structs that the
// host fills. CMake writes kernel_texts.cpp.
#pragma once

#include <cstddef>
#include <vector>

namespace nearfield::cuda {

struct KernelText {
    const char* name;  // as an include names it: "half_step.cu", "cell/curl.h", "plan.h"
    const char* text;
    std::size_t size;
};
extern const std::vector<KernelText> kernel_texts;

}  // namespace nearfield::cuda
