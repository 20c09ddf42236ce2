// Moving blocks: copies that go past the caches, and loops that only write or only read, as a producer in place and a
// consumer in place do.
#pragma once

#include <cstddef>
#include <cstdint>

namespace nearfield::stream {

// A copy whose stores do not fetch the lines they overwrite. For what is read later or elsewhere.
void copy_past_caches(void* to, const void* from, std::size_t bytes);
// Others see this thread's stores past the caches, here or in a row kernel, before they see what it does next.
void settle_stores();

// Words of 8 bytes: `first`, `first + 1`, ... and their sum.
void write_words(void* to, std::size_t bytes, std::uint64_t first);
std::uint64_t sum_words(const void* from, std::size_t bytes);

}  // namespace nearfield::stream
