// A reader's queue of slots: the writer puts at its end, the reader takes at its beginning, and the writer may take
// back at both ends. One word holds both ends, so that exactly one of them gets each entry; its version counts what
// was taken back, so that a word seen twice is the same queue.
#pragma once

#include <bit>
#include <optional>

#include "layout.hpp"

namespace nearfield::stream {

using Entry = std::uint64_t;  // (sequence + 1) << 16 | slot
inline std::size_t slot_of(Entry entry) { return entry & 0xffff; }
inline std::uint64_t sequence_of(Entry entry) { return (entry >> 16) - 1; }

class Queue {
public:
    Queue(Count& ends, std::atomic<Entry>* entries, std::size_t slots)
        : ends_(&ends), entries_(entries), mask_(capacity(slots) - 1) {}
    static std::size_t capacity(std::size_t slots) { return std::bit_ceil(slots); }

    struct Ends {
        std::uint32_t version, taken, put;
        std::uint32_t size() const { return (put - taken) & counts; }
    };
    Ends ends() const { return unpacked(ends_->load(std::memory_order_seq_cst)); }
    Entry at(std::uint32_t n) const { return entries_[n & mask_].load(std::memory_order_acquire); }
    // The last entry that was ever put, taken or not; 0 before the first.
    Entry last() const { return at((ends().put - 1) & counts); }

    bool holds(std::size_t slot) const {
        const Ends now = ends();
        for (std::uint32_t n = 0; n < now.size(); ++n)
            if (slot_of(at(now.taken + n)) == slot) return true;
        return false;
    }

    void put(Entry entry) {
        for (std::uint64_t seen = ends_->load(std::memory_order_acquire);;) {
            const Ends now = unpacked(seen);
            entries_[now.put & mask_].store(entry, std::memory_order_release);
            if (ends_->compare_exchange_strong(seen, packed({now.version, now.taken, now.put + 1}),
                                               std::memory_order_seq_cst))
                return;
        }
    }

    // The reader's: takes the first entry, after `mark(slot)`, and `unmark(slot)` where the writer was first.
    template <class Mark, class Unmark>
    std::optional<Entry> take(Mark mark, Unmark unmark) {
        for (std::uint64_t seen = ends_->load(std::memory_order_seq_cst);;) {
            const Ends now = unpacked(seen);
            if (!now.size()) return std::nullopt;
            const Entry first = at(now.taken);
            mark(slot_of(first));
            if (ends_->compare_exchange_strong(seen, packed({now.version, now.taken + 1, now.put}),
                                               std::memory_order_seq_cst))
                return first;
            unmark(slot_of(first));
        }
    }

    // The writer's: takes back the oldest or the newest entry, unless the reader has taken all.
    bool take_back(bool oldest) {
        for (std::uint64_t seen = ends_->load(std::memory_order_seq_cst);;) {
            const Ends now = unpacked(seen);
            if (!now.size()) return false;
            const Ends left{now.version + 1, now.taken + oldest, now.put - !oldest};
            if (ends_->compare_exchange_strong(seen, packed(left), std::memory_order_seq_cst)) return true;
        }
    }

private:
    static constexpr std::uint32_t counts = (1u << 24) - 1;
    static Ends unpacked(std::uint64_t word) {
        return {std::uint32_t(word >> 48), std::uint32_t(word >> 24) & counts, std::uint32_t(word) & counts};
    }
    static std::uint64_t packed(const Ends& ends) {
        return std::uint64_t(ends.version & 0xffff) << 48 | std::uint64_t(ends.taken & counts) << 24 |
               (ends.put & counts);
    }
    Count* ends_;
    std::atomic<Entry>* entries_;
    std::uint32_t mask_;
};

}  // namespace nearfield::stream
