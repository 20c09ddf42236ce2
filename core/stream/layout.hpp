// What lies in the shared memory of a ring: header, readers, slots, queues, descriptor, blocks of data.
//
// The writer alone puts slots into the readers' queues. A slot is busy for a reader while it is in that reader's queue
// or marked `held` there; the reader marks it before it takes it out of the queue, so that there is no moment between.
// A slot that is busy for nobody is the writer's to fill. So what a killed process was about needs no repair, but for
// a block that was in the midst of being handed out (`committing`).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace nearfield::stream {

constexpr std::uint32_t abi = 1;
constexpr char magic[8] = {'N', 'F', 'R', 'I', 'N', 'G', '\r', '\n'};
constexpr std::uint32_t byte_order = 0x01020304;
constexpr std::size_t line = 128;  // two lines of 64 bytes, which processors fetch in pairs
constexpr std::size_t most_readers = 32, most_blocks = 1024, most_meta = 4096, most_descriptor = 65536;

using Word = std::atomic<std::uint32_t>;
using Count = std::atomic<std::uint64_t>;
static_assert(Word::is_always_lock_free && Count::is_always_lock_free);

// A process that no other is mistaken for: its number, when it began, the name space that the number belongs to.
struct Identity {
    std::atomic<std::int32_t> number{0};
    Count began{0}, space{0};
};

enum Phase : std::uint32_t { vacant, attached, leaving };
enum class Policy : std::uint32_t { block, drop_newest, drop_oldest };
enum State : std::uint32_t { running, closed };

struct alignas(line) ReaderPlace {
    Word phase{vacant};
    std::atomic<Policy> policy{Policy::block};
    Identity process;
    Count joined{0};               // 1 + the first block that was offered to it; 0: none yet
    alignas(line) Count queue{0};  // version << 48 | taken << 24 | put; see queue.hpp
    alignas(line) Word bell{0};    // rung when there is news
    Word sleeps{0};
    Count received{0}, dropped{0}, waited{0};  // nanoseconds that the writer waited for this reader
};

struct alignas(line) Slot {
    Word held{0};  // bit r: reader r has taken it and not released it
    std::uint32_t epoch = 0, checksum = 0, meta_bytes = 0;
    std::atomic<std::uint64_t> sequence{0};
    std::uint64_t bytes = 0;
    std::int64_t step = 0;
    double time = 0;  // when it was committed, seconds since 1970
    unsigned char meta[most_meta];
};

struct Geometry {
    std::uint64_t blocks = 0, block_bytes = 0, stride = 0;
    std::uint64_t descriptor_bytes = 0, checksums = 0;
    std::uint64_t slots_at = 0, queues_at = 0, histogram_at = 0, descriptor_at = 0, data_at = 0, bytes = 0;
};

// What the file begins with, in this and any later version.
struct Preface {
    char magic[8];
    std::uint32_t abi, byte_order;
    Geometry geometry;
};

struct Header {
    Preface preface;
    double created;
    alignas(line) Word epoch{0};
    Word state{running};
    Identity writer[2];           // of even and odd epochs, so that a successor never overwrites the one in force
    alignas(line) Count head{0};  // blocks committed since the ring was made
    Count committing{0};          // 1 + slot that is being handed out
    Count recipients{0};          // and to whom
    Count bytes{0}, waited{0}, dropped{0}, deaths{0};
    alignas(line) Word room{0};  // rung when a slot was given back
    Word writer_sleeps{0};
    ReaderPlace readers[most_readers];
};

}  // namespace nearfield::stream
