#include "processors.hpp"

#include <cerrno>
#include <charconv>
#include <filesystem>
#include <string>
#include <system_error>

#ifdef __linux__
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace nearfield {
namespace {

constexpr int bits = 8 * sizeof(unsigned long);

[[noreturn]] void refuse(int error, const std::string& what) {
    throw std::system_error(error, std::generic_category(), what);
}

std::string listed(const std::vector<int>& numbers) {
    std::string text;
    for (const int n : numbers) text.append(text.empty() ? "" : ",").append(std::to_string(n));
    return text;
}

}  // namespace

Bitmap bitmap_of(const std::vector<int>& numbers) {
    Bitmap bitmap;
    for (const int n : numbers) {
        if (n < 0) refuse(EINVAL, "processor " + std::to_string(n));
        if (bitmap.size() <= std::size_t(n / bits)) bitmap.resize(n / bits + 1);
        bitmap[n / bits] |= 1ul << n % bits;
    }
    return bitmap;
}

std::vector<int> numbers_in(const Bitmap& bitmap) {
    std::vector<int> numbers;
    for (std::size_t word = 0; word < bitmap.size(); ++word)
        for (int bit = 0; bit < bits; ++bit)
            if (bitmap[word] >> bit & 1) numbers.push_back(int(word) * bits + bit);
    return numbers;
}

#ifdef __linux__

void bind_this_thread(const std::vector<int>& processors) {
    if (processors.empty()) return;
    const Bitmap wanted = bitmap_of(processors);
    if (syscall(SYS_sched_setaffinity, 0, wanted.size() * sizeof(wanted[0]), wanted.data()))
        refuse(errno, "cannot bind a thread to processors " + listed(processors));
    const std::vector<int> allowed = allowed_processors();
    if (allowed != numbers_in(wanted))
        refuse(EINVAL, "of processors " + listed(processors) + " a thread may use only " + listed(allowed));
}

std::vector<int> allowed_processors(int thread_id) {
    // The kernel wants room for every processor that it could have, and does not say how many: EINVAL until it fits.
    for (Bitmap bitmap(16);; bitmap.assign(2 * bitmap.size(), 0)) {
        const long bytes = syscall(SYS_sched_getaffinity, thread_id, bitmap.size() * sizeof(bitmap[0]), bitmap.data());
        if (bytes >= 0) return numbers_in(bitmap);
        if (errno != EINVAL || bitmap.size() > 1 << 16) refuse(errno, "cannot read the binding of a thread");
    }
}

int this_thread_id() { return int(syscall(SYS_gettid)); }

namespace {
unsigned where(bool node) {
    unsigned here[2];
    if (syscall(SYS_getcpu, &here[0], &here[1], nullptr)) refuse(errno, "cannot tell the processor of a thread");
    return here[node];
}
}  // namespace

int current_processor() { return int(where(false)); }
int current_node() { return int(where(true)); }

int node_of_processor(int processor) {
    std::error_code none;
    const std::string folder = "/sys/devices/system/cpu/cpu" + std::to_string(processor);
    for (const auto& entry : std::filesystem::directory_iterator(folder, none)) {
        const std::string name = entry.path().filename().string();
        const char* const end = name.data() + name.size();
        int node;
        if (name.starts_with("node") && std::from_chars(name.data() + 4, end, node).ec == std::errc()) return node;
    }
    return -1;
}

#else

void bind_this_thread(const std::vector<int>& processors) {
    if (!processors.empty()) refuse(ENOSYS, "this system cannot bind a thread to processors " + listed(processors));
}
std::vector<int> allowed_processors(int) { refuse(ENOSYS, "this system does not say where a thread may run"); }
int this_thread_id() { return 0; }
int current_processor() { refuse(ENOSYS, "this system does not say where a thread runs"); }
int current_node() { return current_processor(); }
int node_of_processor(int) { return -1; }

#endif

}  // namespace nearfield
