// One number a point: in memory, or in a file that the system pages in and out and that all processes of a host share.
#pragma once

#include <cstddef>
#include <string>
#include <utility>

#include "team.hpp"

namespace nearfield::elements {

// Zeros at first. Throws `std::system_error` where the disk has no room.
class Pages {
public:
    Pages() = default;
    Pages(std::size_t bytes, const std::string& file);  // no name: memory
    Pages(Pages&& other) noexcept { *this = std::move(other); }
    Pages& operator=(Pages&& other) noexcept;
    ~Pages();

    void* begin() const { return begin_; }

private:
    void* begin_ = nullptr;
    std::size_t bytes_ = 0;
    std::string file_;
};

// The file has no name any more once the numbers are gone; processes that have mapped it keep it.
template <class T>
class Numbers {
public:
    Numbers() = default;
    Numbers(long size, const Team& team, const std::string& name)
        : pages_(std::size_t(size) * sizeof(T), team.folder.empty() ? "" : team.folder + "/" + name), size_(size) {}

    T* data() const { return static_cast<T*>(pages_.begin()); }
    long size() const { return size_; }
    T& operator[](long at) const { return data()[at]; }

    // The numbers of each process' points, to all of them.
    void share(const Team& team) const {
        if (!team.alone()) team.share(data(), std::size_t(size_) * sizeof(T));
    }

private:
    Pages pages_;
    long size_ = 0;
};

}  // namespace nearfield::elements
