#include "stream/copy.hpp"

#include <algorithm>
#include <cstring>

#if defined(__x86_64__)
#include <emmintrin.h>
#endif

namespace nearfield::stream {
namespace {

#if defined(__x86_64__)
void store_past_caches(void* to, const void* from, std::size_t bytes) {
    constexpr std::size_t line = 64;
    char* out = static_cast<char*>(to);
    const char* in = static_cast<const char*>(from);
    const std::size_t head = std::min(bytes, (line - reinterpret_cast<std::uintptr_t>(out) % line) % line);
    std::memcpy(out, in, head);
    out += head, in += head, bytes -= head;
    for (; bytes >= line; bytes -= line, out += line, in += line) {
        __m128i words[4];
        for (int n = 0; n < 4; ++n) words[n] = _mm_loadu_si128(reinterpret_cast<const __m128i*>(in) + n);
        for (int n = 0; n < 4; ++n) _mm_stream_si128(reinterpret_cast<__m128i*>(out) + n, words[n]);
    }
    std::memcpy(out, in, bytes);
}
#else
void store_past_caches(void* to, const void* from, std::size_t bytes) { std::memcpy(to, from, bytes); }
#endif
}  // namespace

void settle_stores() {
#if defined(__x86_64__)
    _mm_sfence();
#endif
}

void copy_past_caches(void* to, const void* from, std::size_t bytes) {
    store_past_caches(to, from, bytes);
    settle_stores();
}

void write_words(void* to, std::size_t bytes, std::uint64_t first) {
    auto* const words = static_cast<std::uint64_t*>(to);
    for (std::size_t n = 0; n < bytes / sizeof first; ++n) words[n] = first + n;
}

std::uint64_t sum_words(const void* from, std::size_t bytes) {
    const auto* const words = static_cast<const std::uint64_t*>(from);
    const std::size_t count = bytes / sizeof *words, quarter = count / 4;
    std::uint64_t total[4] = {};
    for (std::size_t n = 0; n < quarter; ++n)  // four streams at once: one alone waits for the prefetcher
        for (std::size_t part = 0; part < 4; ++part) total[part] += words[part * quarter + n];
    for (std::size_t n = 4 * quarter; n < count; ++n) total[0] += words[n];
    return total[0] + total[1] + total[2] + total[3];
}

}  // namespace nearfield::stream
