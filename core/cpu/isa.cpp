// The choice between the builds of rows.cpp: at load, from what the processor has.
#include <cstdlib>
#include <stdexcept>

#include "rows.hpp"

namespace nearfield {

#define NEARFIELD_DECLARE(isa)         \
    namespace isa {                    \
    const Rows<float>& rows_single();  \
    const Rows<double>& rows_double(); \
    }
#if defined(__x86_64__)
NEARFIELD_DECLARE(baseline)
NEARFIELD_DECLARE(avx2)
NEARFIELD_DECLARE(avx512)
#elif defined(__aarch64__)
NEARFIELD_DECLARE(neon)
namespace baseline = neon;  // part of every 64-bit Arm
#else
NEARFIELD_DECLARE(baseline)
#endif

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

template <class Real>
const Rows<Real>& pick(const Rows<float>& single, const Rows<double>& twice) {
    if constexpr (sizeof(Real) == 4)
        return single;
    else
        return twice;
}

template <class Real>
const Rows<Real>& rows_for([[maybe_unused]] const std::string& isa) {
#if defined(__x86_64__)
    if (isa == "avx512") return pick<Real>(avx512::rows_single(), avx512::rows_double());
    if (isa == "avx2") return pick<Real>(avx2::rows_single(), avx2::rows_double());
#endif
    return pick<Real>(baseline::rows_single(), baseline::rows_double());
}
template const Rows<float>& rows_for<float>(const std::string&);
template const Rows<double>& rows_for<double>(const std::string&);

}  // namespace nearfield
