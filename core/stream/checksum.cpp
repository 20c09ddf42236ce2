#include "stream/checksum.hpp"

#include <array>
#include <cstring>

namespace nearfield::stream {
namespace {

using Tables = std::array<std::array<std::uint32_t, 256>, 8>;

constexpr Tables tables() {
    Tables t{};
    for (std::uint32_t n = 0; n < 256; ++n) {
        std::uint32_t value = n;
        for (int bit = 0; bit < 8; ++bit) value = value >> 1 ^ (value & 1 ? 0x82f63b78u : 0);
        t[0][n] = value;
    }
    for (int row = 1; row < 8; ++row)
        for (std::uint32_t n = 0; n < 256; ++n) t[row][n] = t[row - 1][n] >> 8 ^ t[0][t[row - 1][n] & 0xff];
    return t;
}
constexpr Tables table = tables();

#if defined(__x86_64__)
__attribute__((target("sse4.2"))) std::uint32_t by_instruction(const unsigned char* data, std::size_t bytes) {
    std::uint64_t value = 0xffffffffu;
    for (; bytes >= 8; bytes -= 8, data += 8) {
        std::uint64_t word;
        std::memcpy(&word, data, 8);
        value = __builtin_ia32_crc32di(value, word);
    }
    for (; bytes; --bytes) value = __builtin_ia32_crc32qi(std::uint32_t(value), *data++);
    return ~std::uint32_t(value);
}

// Four pieces at once: the instruction takes three cycles, and another one may begin in each.
__attribute__((target("sse4.2"))) void four_by_instruction(const unsigned char* data, std::size_t piece,
                                                           std::uint32_t* found) {
    std::uint64_t values[4] = {0xffffffffu, 0xffffffffu, 0xffffffffu, 0xffffffffu};
    for (std::size_t at = 0; at < piece; at += 8)
        for (int n = 0; n < 4; ++n) {
            std::uint64_t word;
            std::memcpy(&word, data + n * piece + at, 8);
            values[n] = __builtin_ia32_crc32di(values[n], word);
        }
    for (int n = 0; n < 4; ++n) found[n] = ~std::uint32_t(values[n]);
}
#endif

}  // namespace

std::uint32_t crc32c_by_table(const unsigned char* data, std::size_t bytes) {
    std::uint32_t value = 0xffffffffu;
    for (; bytes >= 8; bytes -= 8, data += 8) {
        std::uint32_t next = 0;
        for (int n = 0; n < 4; ++n) next ^= table[7 - n][(value >> 8 * n ^ data[n]) & 0xff] ^ table[3 - n][data[4 + n]];
        value = next;
    }
    for (; bytes; --bytes) value = value >> 8 ^ table[0][(value ^ *data++) & 0xff];
    return ~value;
}

std::uint32_t crc32c(const unsigned char* data, std::size_t bytes) {
#if defined(__x86_64__)
    static const bool known = __builtin_cpu_supports("sse4.2");
    if (known) return by_instruction(data, bytes);
#endif
    return crc32c_by_table(data, bytes);
}

void crc32c_pieces(const unsigned char* data, std::size_t bytes, std::size_t piece, std::uint32_t* found) {
#if defined(__x86_64__)
    static const bool known = __builtin_cpu_supports("sse4.2");
    if (known)
        for (; bytes >= 4 * piece; bytes -= 4 * piece, data += 4 * piece, found += 4)
            four_by_instruction(data, piece, found);
#endif
    for (; bytes > piece; bytes -= piece, data += piece) *found++ = crc32c(data, piece);
    if (bytes) *found = crc32c(data, bytes);
}

}  // namespace nearfield::stream
