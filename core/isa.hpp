// Kernels that are compiled for several instruction sets, and the choice between these builds, when a program runs, from
// what its processor has. A build is a template `const Table<T>& table<T>()` in the namespace of its instruction set.
#pragma once

#include <string>
#include <vector>

namespace nearfield {

// Names known to this build and supported by this processor, best last.
std::vector<std::string> isa_available();
// The given name, or the best when empty; throws std::invalid_argument for one that cannot run here.
std::string isa_choose(const std::string& name);

}  // namespace nearfield

#if defined(__x86_64__)
#define NEARFIELD_IN_EACH_ISA(text) \
    namespace baseline {            \
    text                            \
    }                               \
    namespace avx2 {                \
    text                            \
    }                               \
    namespace avx512 {              \
    text                            \
    }
#define NEARFIELD_WIDER(T, isa, table)              \
    if (isa == "avx512") return avx512::table<T>(); \
    if (isa == "avx2") return avx2::table<T>();
#elif defined(__aarch64__)
#define NEARFIELD_IN_EACH_ISA(text) \
    namespace neon {                \
    text                            \
    }                               \
    namespace baseline = neon;  // part of every 64-bit Arm
#define NEARFIELD_WIDER(T, isa, table)
#else
#define NEARFIELD_IN_EACH_ISA(text) \
    namespace baseline {            \
    text                            \
    }
#define NEARFIELD_WIDER(T, isa, table)
#endif

// Defines `table_for<T>(isa)`, in single and double precision: the build for a name that isa_choose gave.
#define NEARFIELD_BUILDS(Table, table)                                     \
    NEARFIELD_IN_EACH_ISA(template <class T> const Table<T>& table();)     \
    template <class T>                                                     \
    const Table<T>& table##_for([[maybe_unused]] const std::string& isa) { \
        NEARFIELD_WIDER(T, isa, table)                                     \
        return baseline::table<T>();                                       \
    }                                                                      \
    template const Table<float>& table##_for<float>(const std::string&);   \
    template const Table<double>& table##_for<double>(const std::string&);
