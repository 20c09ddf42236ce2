// The instruction sets of this processor, and the choice between the builds of rows.cpp.
#include "isa.hpp"

#include <stdexcept>

#include "rows.hpp"

namespace nearfield {

NEARFIELD_BUILDS(Rows, rows)

std::vector<std::string> isa_available() {
#if defined(__aarch64__)
    std::vector<std::string> names{"neon"};
#else
    std::vector<std::string> names{"baseline"};
#endif
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (__builtin_cpu_supports("x86-64-v3")) names.push_back("avx2");
    if (__builtin_cpu_supports("x86-64-v4")) names.push_back("avx512");
#endif
    return names;
}

std::string isa_choose(const std::string& name) {
    const std::vector<std::string> names = isa_available();
    if (name.empty()) return names.back();
    std::string list;
    for (const std::string& known : names) {
        if (known == name) return name;
        list += (list.empty() ? "" : ", ") + known;
    }
    throw std::invalid_argument("instruction set \"" + name + "\" cannot run here; this processor has: " + list);
}

}  // namespace nearfield
