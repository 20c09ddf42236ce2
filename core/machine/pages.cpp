#include "pages.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>
#include <system_error>

#include "processors.hpp"

#include <sys/mman.h>
#include <unistd.h>

#ifdef __linux__
#include <sys/syscall.h>
#endif

namespace nearfield {

namespace {
std::size_t whole_pages(std::size_t bytes) {
    const std::size_t page = sysconf(_SC_PAGESIZE);
    return (bytes + page - 1) / page * page;
}
}  // namespace

#ifdef __SANITIZE_ADDRESS__

// From the heap, so that the sanitizer watches the ends.
void* map_pages(std::size_t bytes, bool) {
    void* const p = std::aligned_alloc(sysconf(_SC_PAGESIZE), whole_pages(bytes));
    if (!p) throw std::bad_alloc();
    return std::memset(p, 0, whole_pages(bytes));
}
void unmap_pages(void* address, std::size_t) { std::free(address); }

#else

void* map_pages(std::size_t bytes, bool huge) {
    constexpr std::size_t huge_page = 2 << 20;
    const std::size_t spare = huge && bytes >= huge_page ? huge_page : 0, length = whole_pages(bytes);
    void* const p = mmap(nullptr, length + spare, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED) throw std::bad_alloc();
    if (!spare) return p;
    char* const first = static_cast<char*>(p);
    const std::size_t before = -reinterpret_cast<std::uintptr_t>(p) % huge_page, behind = spare - before;
    if (before) munmap(first, before);
    if (behind) munmap(first + before + length, behind);
#ifdef MADV_HUGEPAGE
    madvise(first + before, length, MADV_HUGEPAGE);  // a hint; may be refused
#endif
    return first + before;
}
void unmap_pages(void* address, std::size_t bytes) { munmap(address, whole_pages(bytes)); }

#endif

#ifdef __linux__
namespace {

// The kernel's names, from linux/mempolicy.h.
constexpr int mpol_default = 0, mpol_bind = 2, mpol_interleave = 3;
constexpr std::size_t node_bits = 4096;  // a kernel has 1024 nodes at most; it wants room for all that it could have

long set_policy(int mode, const Bitmap& nodes) {
    if (mode == mpol_default) return syscall(SYS_set_mempolicy, mode, nullptr, 0);  // a mask, even empty, is refused
    const std::size_t bits = 8 * sizeof(nodes[0]) * nodes.size();
    return syscall(SYS_set_mempolicy, mode, nodes.data(), bits + 1);  // the kernel reads one bit less than it is told
}

std::string name(MemoryPolicy policy) {
    const char* names[] = {"off", "first-touch", "bind", "interleave"};
    return names[int(policy)];
}

std::string reason(int error) {
    switch (error) {
    case EINVAL: return "no such node, or this process may not use its memory";
    case EPERM: return "forbidden to this process, as containers do";
    case ENOSYS: return "this kernel knows no NUMA nodes";
    default: return std::generic_category().message(error);
    }
}

[[noreturn]] void refuse(const std::string& what) {
    const int error = errno;
    throw std::system_error(error, std::generic_category(), what + ": " + reason(error));
}

// Pages of its own, given back at the end.
struct Mapping {
    std::size_t bytes;
    void* address;
    explicit Mapping(std::size_t length)
        : bytes(length), address(mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {
        if (address == MAP_FAILED) throw std::bad_alloc();
    }
    ~Mapping() { munmap(address, bytes); }
};

std::string lies_elsewhere(const Mapping& mapping, int node) {
    try {
        const PageCounts found = pages_by_node(mapping.address, mapping.bytes);
        if (found.by_node.size() > std::size_t(node) && found.by_node[node] == found.pages) return {};
        return "a page touched under it lies on another node";
    } catch (const std::system_error&) {
        return {};  // nobody tells; the policy itself was taken
    }
}

}  // namespace

ThreadPolicy::ThreadPolicy(MemoryPolicy policy, const std::vector<int>& nodes) {
    if (policy == MemoryPolicy::off) return;
    nodes_before_.resize(node_bits / (8 * sizeof(nodes_before_[0])));
    const bool known = syscall(SYS_get_mempolicy, &mode_before_, nodes_before_.data(), node_bits, nullptr, 0) == 0;
    if (policy == MemoryPolicy::first_touch) {
        changed_ = known && mode_before_ != mpol_default && set_policy(mpol_default, {}) == 0;
        return;
    }
    const Bitmap wanted = bitmap_of(nodes);
    if (wanted.empty()) throw std::system_error(EINVAL, std::generic_category(), name(policy) + " without a node");
    if (!known || set_policy(policy == MemoryPolicy::bind ? mpol_bind : mpol_interleave, wanted)) refuse(name(policy));
    changed_ = true;
}

ThreadPolicy::~ThreadPolicy() {
    if (changed_) set_policy(mode_before_, nodes_before_);
}

std::string policy_refused(MemoryPolicy policy, const std::vector<int>& nodes) {
    if (policy == MemoryPolicy::off || policy == MemoryPolicy::first_touch) return {};
    if (nodes.empty()) return name(policy) + " needs a node";
    for (const int node : nodes) {
        const std::string on = name(policy) + " on node " + std::to_string(node) + ": ";
        if (node < 0) return on + reason(EINVAL);
        try {
            const Mapping mapping(std::size_t(sysconf(_SC_PAGESIZE)));
            const ThreadPolicy under(policy, {node});
            *static_cast<volatile char*>(mapping.address) = 1;
            if (const std::string wrong = lies_elsewhere(mapping, node); !wrong.empty()) return on + wrong;
        } catch (const std::system_error& error) {
            return on + reason(error.code().value());
        }
    }
    return {};
}

PageCounts pages_by_node(const void* address, std::size_t bytes, long sample) {
    PageCounts counts;
    const std::uintptr_t page = sysconf(_SC_PAGESIZE), first = reinterpret_cast<std::uintptr_t>(address) / page * page;
    const std::uintptr_t last = reinterpret_cast<std::uintptr_t>(address) + bytes;
    counts.pages = bytes ? long((last - first + page - 1) / page) : 0;
    const long asked = std::min(counts.pages, std::max(1l, sample)), batch = 1 << 16;
    std::vector<void*> pages;
    std::vector<int> status;
    for (long begin = 0; begin < asked; begin += batch) {
        pages.clear();
        for (long n = begin; n < std::min(asked, begin + batch); ++n)
            pages.push_back(reinterpret_cast<void*>(first + page * (n * counts.pages / asked)));
        status.assign(pages.size(), -EFAULT);
        if (syscall(SYS_move_pages, 0, pages.size(), pages.data(), nullptr, status.data(), 0))
            refuse("cannot tell where pages lie");
        for (const int node : status) {
            if (node == -ENOENT) ++counts.absent;
            if (node < 0 && node != -ENOENT) ++counts.unknown;
            if (node < 0) continue;
            if (counts.by_node.size() <= std::size_t(node)) counts.by_node.resize(node + 1);
            ++counts.by_node[node];
        }
    }
    return counts;
}

#else

ThreadPolicy::ThreadPolicy(MemoryPolicy policy, const std::vector<int>&) {
    if (policy == MemoryPolicy::bind || policy == MemoryPolicy::interleave)
        throw std::system_error(ENOSYS, std::generic_category(), "memory policies are Linux's");
}
ThreadPolicy::~ThreadPolicy() = default;
std::string policy_refused(MemoryPolicy policy, const std::vector<int>&) {
    return policy == MemoryPolicy::bind || policy == MemoryPolicy::interleave ? "memory policies are Linux's" : "";
}
PageCounts pages_by_node(const void*, std::size_t, long) {
    throw std::system_error(ENOSYS, std::generic_category(), "this system does not tell where pages lie");
}

#endif

}  // namespace nearfield
