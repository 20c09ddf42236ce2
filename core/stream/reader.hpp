// A reading end of a ring: receive blocks in order, release them in any.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "stream/segment.hpp"

namespace nearfield::stream {

struct Block {
    std::size_t slot = 0;
    std::uint64_t sequence = 0, bytes = 0;
    std::uint64_t missed = 0;  // blocks that were dropped for this reader since the one before
    std::int64_t step = 0;
    std::uint32_t epoch = 0;
    double time = 0;
    bool intact = true;  // its checksum, where the ring has them
};

enum class Received { block, timed_out, end_of_stream, writer_died };

// One thread receives; any may release.
class Reader {
public:
    // The ring of this name, from the next block on; null where there is none that anybody writes. Throws `Refused`.
    static std::unique_ptr<Reader> attach(const std::string& path, Policy policy);
    Reader(std::shared_ptr<Segment> segment, Policy policy);
    ~Reader();
    Reader(const Reader&) = delete;
    Reader& operator=(const Reader&) = delete;

    // The next block, waiting for it at most so long. `writer_died` comes after the last block of the dead writer,
    // before the first of its successor, once for each.
    Received receive(Nanoseconds patience, Block& block);
    void release(std::size_t slot);
    // Gives everything back; removes the ring where this was the last party.
    void close();

    std::size_t index() const { return index_; }
    const std::shared_ptr<Segment>& segment() const { return segment_; }

private:
    std::optional<Entry> take();
    Received hand_over(Entry entry, Block& block);
    void give_back(std::size_t slot);
    void require_open() const;

    std::shared_ptr<Segment> segment_;
    std::size_t index_ = 0;
    std::mutex mutex_;  // of held_
    std::vector<std::size_t> held_;
    std::optional<Entry> put_off_;  // taken, to be handed over after the death of the writer before it was told
    std::uint64_t expected_ = ~std::uint64_t(0);
    std::uint32_t epoch_ = 0, mourned_ = 0;  // of the last block; of writers below it the death was told
    std::atomic<bool> open_{true}, receiving_{false};
    const int process_;
};

}  // namespace nearfield::stream
