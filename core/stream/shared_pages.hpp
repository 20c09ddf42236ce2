// Memory of a ring: mapped where huge pages can lie, present before anybody writes, on the nodes that were asked for.
#pragma once

#include <cstddef>
#include <cstdint>

namespace nearfield::stream {

struct Settings;

std::uint64_t page_bytes();

// The first `bytes` bytes of a file, whole pages, shared, from an address that is a multiple of a huge page; null with errno set.
unsigned char* map_shared(int file, std::size_t bytes);

// Makes every page of a mapping of a file present and writable. Throws `Refused` where there is no memory for them, or
// they cannot lie where they were asked for.
void place_pages(int file, unsigned char* base, std::size_t bytes, const Settings& settings);

// Maps pages that are present, for reading.
void populate_read(unsigned char* at, std::size_t bytes);

}  // namespace nearfield::stream
