// A copy on each NUMA node of what all threads of a loop read.
#pragma once

#include <algorithm>
#include <span>
#include <system_error>
#include <thread>
#include <vector>

#include "machine/pages.hpp"
#include "machine/processors.hpp"
#include "schedule/loop.hpp"

namespace nearfield::schedule {

// On one node there is no copy: `here()` is the original, which must outlive the replicas.
template <class T>
class Replicas {
public:
    Replicas(std::span<const T> original, const Layout& layout) : original_(original) {
        if (layout.processors.size() < 2 || original.empty()) return;
        copies_.resize(layout.processors.size(), nullptr);
        for (std::size_t node = 0; node < copies_.size(); ++node) copies_[node] = copied(layout.processors[node]);
    }
    ~Replicas() {
        for (T* copy : copies_) unmap_pages(copy, original_.size_bytes());
    }
    Replicas(const Replicas&) = delete;
    Replicas& operator=(const Replicas&) = delete;

    // For the calling thread of a loop.
    const T* here() const { return copies_.empty() ? original_.data() : copies_[std::size_t(schedule::here())]; }
    const T* on(int node) const { return copies_.empty() ? original_.data() : copies_[std::size_t(node)]; }

private:
    // Written by a thread of the node, so that its pages come to lie there.
    T* copied(const std::vector<int>& processors) const {
        T* const copy = static_cast<T*>(map_pages(original_.size_bytes(), false));
        std::thread([&] {
            try {
                bind_this_thread(processors);
            } catch (const std::system_error&) {  // a container that forbids it: the pages lie where it runs
            }
            const ThreadPolicy policy(MemoryPolicy::first_touch);
            std::copy(original_.begin(), original_.end(), copy);
        }).join();
        return copy;
    }

    std::span<const T> original_;
    std::vector<T*> copies_;
};

}  // namespace nearfield::schedule
