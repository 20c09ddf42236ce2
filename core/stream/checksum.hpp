// CRC-32C (Castagnoli), as iSCSI and most storage have it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace nearfield::stream {

std::uint32_t crc32c(const unsigned char* data, std::size_t bytes);
// The same without the processor's instruction.
std::uint32_t crc32c_by_table(const unsigned char* data, std::size_t bytes);
// One for each run of `piece` bytes, a multiple of 8; the last may be shorter. `found` has room for all.
void crc32c_pieces(const unsigned char* data, std::size_t bytes, std::size_t piece, std::uint32_t* found);

}  // namespace nearfield::stream
