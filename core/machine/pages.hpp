// Where pages of memory lie and shall lie, by raw system calls (no libnuma).
//
// A page gets its node when it is first written, by the policy of the thread that writes it. So arrays are placed by
// touching them under a `ThreadPolicy`, and `pages_by_node` tells what came of it.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace nearfield {

enum class MemoryPolicy {
    off,          // whatever the process was started with
    first_touch,  // the node of the processor which the thread runs on
    bind,         // the given nodes and no others
    interleave,   // the given nodes in turn
};

// The calling thread's policy while this object lives; then the one before it. Must end in the thread where it began.
// Throws `std::system_error`: EINVAL a node that is not there, EPERM forbidden (containers), ENOSYS a kernel without
// NUMA. `first_touch` never fails: where it cannot be asked for it is the kernel's own default.
class ThreadPolicy {
public:
    explicit ThreadPolicy(MemoryPolicy policy, const std::vector<int>& nodes = {});
    ~ThreadPolicy();
    ThreadPolicy(const ThreadPolicy&) = delete;
    ThreadPolicy& operator=(const ThreadPolicy&) = delete;

private:
    bool changed_ = false;
    int mode_before_ = 0;
    std::vector<unsigned long> nodes_before_;
};

// Pages of zeros that nobody has touched: from the system, since a heap hands out memory again that lies where it was
// touched first. Of 2 MiB and more, if they may be `huge`: aligned to huge pages, and made of them where the system
// gives them.
void* map_pages(std::size_t bytes, bool huge);
void unmap_pages(void* address, std::size_t bytes);

// Why the policy cannot be honoured, found by touching a small mapping under it, each node for itself since the kernel
// silently drops absent nodes from a set of which it has one; empty where it can. Nothing is left behind.
std::string policy_refused(MemoryPolicy policy, const std::vector<int>& nodes);

struct PageCounts {
    std::vector<long> by_node;  // pages found on node n
    long absent = 0;            // never touched by this process: they lie nowhere yet
    long unknown = 0;           // not mapped; the page of zeros, where memory was only read; watched by NUMA balancing
    long pages = 0;             // of the whole range; the counts add up to less where it was sampled
};

// The nodes of the pages of [address, address + bytes), `sample` of them evenly spaced where there are more.
// Throws `std::system_error` where the system does not tell (EPERM, ENOSYS).
PageCounts pages_by_node(const void* address, std::size_t bytes, long sample = 1000000);

}  // namespace nearfield
