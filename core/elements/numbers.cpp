#include "elements/numbers.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "machine/pages.hpp"

namespace nearfield::elements {

namespace {

[[noreturn]] void fail(int error, const std::string& file) {
    throw std::system_error(error, std::generic_category(), file);
}

// Room is taken at once: a mapped file that outgrows its disk later would kill the process.
void take_room(int descriptor, std::size_t bytes, const std::string& file) {
#ifdef __APPLE__
    if (ftruncate(descriptor, off_t(bytes))) fail(errno, file);
#else
    if (const int error = posix_fallocate(descriptor, 0, off_t(bytes))) fail(error, file);
#endif
}

}  // namespace

Pages::Pages(std::size_t bytes, const std::string& file) : bytes_(bytes), file_(file) {
    if (file.empty()) {
        begin_ = map_pages(bytes, true);
        return;
    }
    const int descriptor = open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (descriptor < 0) fail(errno, file);
    try {
        take_room(descriptor, bytes, file);
        begin_ = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
        if (begin_ == MAP_FAILED) begin_ = nullptr, fail(errno, file);
    } catch (...) {
        close(descriptor);
        throw;
    }
    close(descriptor);
}

Pages& Pages::operator=(Pages&& other) noexcept {
    std::swap(begin_, other.begin_);
    std::swap(bytes_, other.bytes_);
    std::swap(file_, other.file_);
    return *this;
}

Pages::~Pages() {
    if (!begin_) return;
    if (file_.empty()) {
        unmap_pages(begin_, bytes_);
    } else {
        munmap(begin_, bytes_);
        unlink(file_.c_str());
    }
}

}  // namespace nearfield::elements
