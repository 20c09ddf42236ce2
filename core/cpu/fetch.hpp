// Fetching ahead into the second-level cache.
#pragma once

#include <algorithm>

namespace nearfield {

inline constexpr long line = 64;  // bytes

// Fetches part `part` of `parts` of `bytes` towards L2. Inlined always: GCC takes a function of prefetches alone for
// one without effect, and drops its calls.
__attribute__((always_inline)) inline void fetch(const void* from, long bytes, long part, long parts) {
    const long lines = bytes / line, share = (lines + parts - 1) / parts;
    const char* p = static_cast<const char*>(from);
    for (long n = part * share, end = std::min(lines, n + share); n < end; ++n) __builtin_prefetch(p + n * line, 0, 2);
}

}  // namespace nearfield
