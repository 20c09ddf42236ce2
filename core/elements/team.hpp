// Who labels which points, and where numbers of points lie: one process with memory of its own, or several that share the
// work and, on one host, files that all of them have mapped.
#pragma once

#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "schedule/loop.hpp"

namespace nearfield::elements {

// The processes of a team call both functions in the same order.
struct Team {
    long first, last;            // points of this process, whole rows; those of later processes follow
    long host_first, host_last;  // points that this process prepares on its host: together all of them
    int threads;
    std::string folder;                                                  // of the files; empty: memory
    std::function<std::vector<std::string>(const std::string&)> gather;  // bytes of all, in order; none where alone
    std::function<void(void*, std::size_t)> share;  // bytes of all points: those of each process, to all of them

    bool alone() const { return !gather; }

    // `work(begin, end)` on chunks of this process' points.
    template <class Work>
    void in_chunks(long chunk, const Work& work) const {
        nearfield::in_chunks(last - first, chunk, threads, [&](long b, long e) { work(first + b, first + e); });
    }

    // Records of all processes, one after the other.
    template <class Record>
    std::vector<Record> all(const std::vector<Record>& own) const {
        if (alone()) return own;
        std::vector<Record> found;
        const std::string bytes(reinterpret_cast<const char*>(own.data()), own.size() * sizeof(Record));
        for (const std::string& part : gather(bytes)) {
            const std::size_t before = found.size();
            found.resize(before + part.size() / sizeof(Record));
            if (!part.empty()) std::memcpy(static_cast<void*>(found.data() + before), part.data(), part.size());
        }
        return found;
    }
    bool everywhere(bool true_here) const {
        for (const char each : all(std::vector<char>{char(true_here)}))
            if (!each) return false;
        return true;
    }
    long sum(long own) const {
        long total = 0;
        for (const long each : all(std::vector<long>{own})) total += each;
        return total;
    }
    void meet() const { everywhere(true); }
};

}  // namespace nearfield::elements
