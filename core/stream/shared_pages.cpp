#include "stream/shared_pages.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <system_error>

#include "machine/processors.hpp"
#include "stream/segment.hpp"

namespace nearfield::stream {
namespace {

constexpr std::size_t huge = 2 << 20;  // bytes of a huge page of x86-64, and of ARM with pages of 4 KiB

// The kernel's numbers: from linux/mempolicy.h, and of calls that older C libraries do not name.
constexpr int mpol_bind = 2, mpol_interleave = 3, mpol_mf_strict = 1;
constexpr int madv_populate_read = 22, madv_populate_write = 23, madv_collapse = 25;

std::size_t up(std::size_t bytes, std::size_t to) { return (bytes + to - 1) / to * to; }

void bind_pages(void* address, std::size_t bytes, const Settings& settings) {
    const Bitmap nodes = bitmap_of(settings.nodes);
    const int mode = settings.memory == MemoryPolicy::bind ? mpol_bind : mpol_interleave;
    const unsigned long bits = 8 * sizeof(nodes[0]) * nodes.size();
    if (syscall(SYS_mbind, address, bytes, mode, nodes.data(), bits + 1, mpol_mf_strict))
        throw Refused("the ring cannot be placed as asked: " + std::generic_category().message(errno) +
                      ". Leave memory out");
}

int allocate(int file, std::size_t from, std::size_t bytes) {
    int error = EINTR;
    while (error == EINTR) error = posix_fallocate(file, long(from), long(bytes));
    return error;
}

void populate(unsigned char* at, std::size_t bytes, bool write) {
    if (madvise(at, bytes, write ? madv_populate_write : madv_populate_read) == 0) return;
    volatile unsigned char* const pages = at;
    for (std::size_t n = 0; n < bytes; n += page_bytes()) {
        const unsigned char found = pages[n];
        if (write) pages[n] = found;
    }
}

// Systems give shared memory no huge pages unasked. From Linux 6.1 on, a call makes one of a piece in which a page is
// present, whatever the system's setting; that takes a third of the time of as many small pages, and the solver and
// the disk's driver then miss few translations. Where the call is refused, small pages are left.
void collapse_pieces(int file, unsigned char* base, std::size_t bytes) {
    const std::size_t page = page_bytes();
    for (std::size_t at = 0; at + huge <= bytes; at += huge) {
        if (allocate(file, at, page)) return;  // whoever allocates the whole says why
        populate(base + at, page, true);
        if (madvise(base + at, huge, madv_collapse)) return;
    }
}

}  // namespace

std::uint64_t page_bytes() { return sysconf(_SC_PAGESIZE); }

unsigned char* map_shared(int file, std::size_t bytes) {
    void* const room = mmap(nullptr, bytes + huge, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (room == MAP_FAILED) return nullptr;
    const auto first = reinterpret_cast<std::uintptr_t>(room);
    const std::size_t skipped = up(first, huge) - first;
    auto* const base = static_cast<unsigned char*>(room) + skipped;
    void* const found = mmap(base, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0);
    const int error = errno;
    if (skipped) munmap(room, skipped);
    if (found != MAP_FAILED) {
        if (skipped < huge) munmap(base + bytes, huge - skipped);
        return base;
    }
    munmap(base, bytes + huge - skipped);
    errno = error;
    return nullptr;
}

// Memory that was promised and is short would kill the process later. Interleaved pages stay small: the policy gives
// all first pages of huge ones the same node.
void place_pages(int file, unsigned char* base, std::size_t bytes, const Settings& settings) {
    const bool placed = settings.memory == MemoryPolicy::bind || settings.memory == MemoryPolicy::interleave;
    const ThreadPolicy policy(placed ? settings.memory : MemoryPolicy::off, settings.nodes);
    if (placed) bind_pages(base, bytes, settings);
    if (settings.memory != MemoryPolicy::interleave) collapse_pieces(file, base, bytes);
    const int error = allocate(file, 0, bytes);
    if (error == ENOSPC || error == ENOMEM)
        throw Refused("there is no memory left for a ring of " + std::to_string(long(double(bytes) / 1e6 + 0.5)) +
                      " MB. Use fewer or smaller blocks");
    if (error) throw Refused("no ring can be made: " + std::generic_category().message(error));
    populate(base, bytes, true);
}

void populate_read(unsigned char* at, std::size_t bytes) { populate(at, bytes, false); }

}  // namespace nearfield::stream
