#include "stream/writer.hpp"

#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "stream/checksum.hpp"

namespace nearfield::stream {
namespace {

constexpr auto order = std::memory_order_seq_cst;
constexpr auto looks_apart = std::chrono::milliseconds(500);  // for dead readers, by a writer that never waits

std::uint64_t nanoseconds(clockid_t clock) {
    timespec time{};
    clock_gettime(clock, &time);
    return std::uint64_t(time.tv_sec) * 1000000000u + std::uint64_t(time.tv_nsec);
}

template <class Mask, class Do>
void each(Mask mask, Do act) {
    for (; mask; mask &= mask - 1) act(std::size_t(std::countr_zero(mask)));
}

bool fits(const Segment& segment, const Settings& settings) {
    const Geometry& g = segment.geometry();
    return g.blocks == settings.blocks && g.block_bytes == settings.block_bytes &&
           bool(g.checksums) == settings.checksums && segment.descriptor() == settings.descriptor;
}

bool somebody_reads(const Segment& segment) {
    for (std::size_t r = 0; r < most_readers; ++r)
        if (segment.reader_lives(r)) return true;
    return false;
}

}  // namespace

std::unique_ptr<Writer> Writer::create(const std::string& path, const Settings& settings, bool take_over) {
    for (;;) {
        if (const auto old = Segment::open(path, false)) {
            const Lock lock(*old);
            if (!lock.held()) throw InUse("another process holds the lock of " + path);
            if (!old->named()) continue;
            if (old->writer_lives())
                throw InUse(path + " has a writer, process " + std::to_string(old->writer().number));
            if (take_over && old->header().state == running && fits(*old, settings) && somebody_reads(*old)) {
                auto writer = std::make_unique<Writer>(old);
                writer->take_over();
                return writer;
            }
            old->unname();
        }
        const auto fresh = Segment::make(path, settings);
        if (fresh->publish()) return std::make_unique<Writer>(fresh);
    }
}

Writer::Writer(std::shared_ptr<Segment> segment) : segment_(std::move(segment)), process_(getpid()) {}

Writer::~Writer() {
    try {
        close();
    } catch (...) {
        open_ = false;  // the ring is left to whoever finds it
    }
}

// Under the ring's lock, its former writer dead.
void Writer::take_over() {
    Header& header = segment_->header();
    finish_commit();
    header.writer_sleeps.store(0, order);
    const std::uint32_t next = header.epoch.load(order) + 1;
    store(header.writer[next & 1], this_process());
    header.epoch.store(next, order);
    retire_left(true);
}

// A block that was being handed out when the writer died goes to whoever had not got it yet.
void Writer::finish_commit() {
    Header& header = segment_->header();
    const std::uint64_t committing = header.committing.load(order);
    if (!committing) return;
    Slot& slot = segment_->slot(committing - 1);
    const Entry entry = (slot.sequence.load(order) + 1) << 16 | (committing - 1);
    each(Mask(header.recipients.load(order)), [&](std::size_t r) {
        Queue queue = segment_->queue(r);
        if (queue.last() != entry) queue.put(entry);
    });
    header.head.store(slot.sequence.load(order) + 1, order);
    header.committing.store(0, order);
}

void Writer::require_open() const {
    if (!open_) throw Refused("this writer is closed");
    if (getpid() != process_) throw Refused("this writer belongs to the process that this one was forked from");
}

void Writer::retire_left(bool look_for_dead) {
    for (std::size_t r = 0; r < most_readers; ++r) {
        ReaderPlace& place = segment_->place(r);
        if (look_for_dead && place.phase.load(order) == attached && !alive(load(place.process))) {
            segment_->header().deaths.fetch_add(1);
            place.phase.store(leaving, order);
        }
        if (place.phase.load(order) == leaving) segment_->retire(r);
    }
}

// For each slot the readers who have it, in their queue or in hand. Queues first: see layout.hpp.
std::vector<Writer::Mask> Writer::owners() const {
    std::vector<Mask> found(segment_->geometry().blocks);
    for (std::size_t r = 0; r < most_readers; ++r) {
        if (segment_->place(r).phase.load(order) != attached) continue;
        const Queue queue = segment_->queue(r);
        const Queue::Ends ends = queue.ends();
        for (std::uint32_t n = 0; n < ends.size(); ++n) found[slot_of(queue.at(ends.taken + n))] |= 1u << r;
    }
    for (std::size_t n = 0; n < found.size(); ++n) found[n] |= segment_->slot(n).held.load(order);
    return found;
}

Writer::Mask Writer::readers_with(Policy policy) const {
    Mask mask = 0;
    for (std::size_t r = 0; r < most_readers; ++r)
        if (segment_->place(r).phase.load(order) == attached && segment_->place(r).policy.load(order) == policy)
            mask |= 1u << r;
    return mask;
}

bool Writer::claimed(std::size_t slot) const {
    return std::find(claims_.begin(), claims_.end(), slot) != claims_.end();
}

// The first free slot, so that few are in use, and in cache, while readers keep up.
std::optional<std::size_t> Writer::claim(bool count) {
    const std::lock_guard lock(mutex_);
    require_open();
    if (claims_.size() == segment_->geometry().blocks)
        throw Refused("all " + std::to_string(claims_.size()) + " blocks are acquired already. Commit one first");
    const auto time = std::chrono::steady_clock::now();
    const bool look = time - last_look_ >= looks_apart;
    if (look) last_look_ = time;
    retire_left(look);
    const std::vector<Mask> found = owners();
    if (count && !waits_)
        segment_->histogram()[std::count_if(found.begin(), found.end(), [](Mask m) { return m != 0; })].fetch_add(1);
    std::optional<std::size_t> free;
    for (std::size_t n = 0; n < found.size() && !free; ++n)
        if (!found[n] && !claimed(n)) free = n;
    if (!free) free = make_room(found);
    waits_ = !free;
    if (!free) return free;
    claims_.push_back(*free);
    most_claims_ = std::max(most_claims_, claims_.size());
    return free;
}

// Takes blocks back from readers that let them be dropped: the oldest, or else the newest that frees a slot.
std::optional<std::size_t> Writer::make_room(const std::vector<Mask>& owners) {
    const Mask oldest = readers_with(Policy::drop_oldest), newest = readers_with(Policy::drop_newest);
    if (!(oldest | newest)) return std::nullopt;
    std::vector<std::size_t> slots;
    for (std::size_t n = 0; n < owners.size(); ++n)
        if (!claimed(n) && !(owners[n] & ~(oldest | newest))) slots.push_back(n);
    const auto rank = [&](std::size_t n) {
        const auto sequence = std::int64_t(segment_->slot(n).sequence.load(order));
        return owners[n] & newest ? std::pair(1, -sequence) : std::pair(0, sequence);
    };
    std::sort(slots.begin(), slots.end(), [&](std::size_t a, std::size_t b) { return rank(a) < rank(b); });
    for (const std::size_t slot : slots)
        if (take_back(slot, owners[slot])) return slot;
    return std::nullopt;
}

void Writer::drop(ReaderPlace& place) {
    place.dropped.fetch_add(1);
    segment_->header().dropped.fetch_add(1);
}

bool Writer::take_back(std::size_t slot, Mask from) {
    if (segment_->slot(slot).held.load(order)) return false;
    each(from, [&](std::size_t r) {
        Queue queue = segment_->queue(r);
        ReaderPlace& place = segment_->place(r);
        const bool oldest = place.policy.load(order) == Policy::drop_oldest;
        while (queue.holds(slot) && queue.take_back(oldest)) drop(place);
    });
    return !segment_->slot(slot).held.load(order);
}

std::optional<std::size_t> Writer::acquire(Nanoseconds patience) {
    std::optional<std::size_t> slot = claim(true);
    if (slot || patience <= patience.zero()) return slot;
    const std::uint64_t begun = nanoseconds(CLOCK_MONOTONIC);
    const std::vector<Mask> hindering = owners();
    Header& header = segment_->header();
    if (!wait(header.room, header.writer_sleeps, patience, [&] { return bool(slot = claim(false)); })) {
        const std::lock_guard lock(mutex_);
        retire_left(true);
    }
    if (!slot) slot = claim(false);
    blame(nanoseconds(CLOCK_MONOTONIC) - begun, hindering);
    return slot;
}

// The time goes to the account of those who had the oldest block.
void Writer::blame(std::uint64_t waited, const std::vector<Mask>& owners) {
    segment_->header().waited.fetch_add(waited);
    std::uint64_t oldest = endless;
    Mask mask = 0;
    for (std::size_t n = 0; n < owners.size(); ++n)
        if (const std::uint64_t sequence = segment_->slot(n).sequence.load(order); owners[n] && sequence < oldest)
            oldest = sequence, mask = owners[n];
    each(mask, [&](std::size_t r) { segment_->place(r).waited.fetch_add(waited); });
}

// Everybody attached; but readers that drop the newest never get the last slots, which are the writer's.
Writer::Mask Writer::recipients(std::size_t slot) {
    retire_left(false);
    const Mask dropping = readers_with(Policy::drop_newest);
    Mask mask = readers_with(Policy::block) | readers_with(Policy::drop_oldest) | dropping;
    if (dropping) {
        const std::vector<Mask> found = owners();
        const auto taken = std::count_if(found.begin(), found.end(), [&](Mask m) { return (m & dropping) != 0; });
        if (std::size_t(taken) + 1 + most_claims_ > found.size()) {
            mask &= ~dropping;
            each(dropping, [&](std::size_t r) { drop(segment_->place(r)); });
        }
    }
    const std::uint64_t joined = segment_->slot(slot).sequence.load(order) + 1;
    each(mask | dropping, [&](std::size_t r) {
        std::uint64_t none = 0;
        segment_->place(r).joined.compare_exchange_strong(none, joined);
    });
    return mask;
}

void Writer::commit(std::size_t bytes, std::int64_t step, std::string_view meta) {
    const std::lock_guard lock(mutex_);
    require_open();
    const Geometry& geometry = segment_->geometry();
    if (claims_.empty()) throw Refused("no block is acquired that could be committed");
    if (bytes > geometry.block_bytes)
        throw Refused("nbytes=" + std::to_string(bytes) + ": a block has " + std::to_string(geometry.block_bytes) +
                      " bytes");
    if (meta.size() > most_meta)
        throw Refused("meta has " + std::to_string(meta.size()) + " bytes: " + std::to_string(most_meta) +
                      " are allowed");
    Header& header = segment_->header();
    const std::size_t n = claims_.front();
    Slot& slot = segment_->slot(n);
    const std::uint64_t sequence = header.head.load(order);
    slot.epoch = header.epoch.load(order);
    slot.sequence.store(sequence, order);
    slot.bytes = bytes, slot.step = step, slot.time = 1e-9 * double(nanoseconds(CLOCK_REALTIME));
    slot.meta_bytes = std::uint32_t(meta.size());
    std::memcpy(slot.meta, meta.data(), meta.size());
    slot.checksum = geometry.checksums ? crc32c(segment_->block(n), bytes) : 0;
    const Mask mask = recipients(n);
    header.recipients.store(mask, order);
    header.committing.store(n + 1, order);
    each(mask, [&](std::size_t r) { segment_->queue(r).put((sequence + 1) << 16 | n); });
    header.head.store(sequence + 1, order);
    header.committing.store(0, order);
    header.bytes.fetch_add(bytes);
    claims_.pop_front();
    each(mask, [&](std::size_t r) { ring(segment_->place(r).bell, segment_->place(r).sleeps); });
}

void Writer::abandon() {
    const std::lock_guard lock(mutex_);
    require_open();
    if (claims_.empty()) throw Refused("no block is acquired that could be given back");
    claims_.pop_back();
}

void Writer::close() {
    const std::lock_guard lock(mutex_);
    if (!open_) return;
    open_ = false;
    if (getpid() != process_) return;
    const Lock control(*segment_);
    retire_left(true);
    segment_->header().state.store(closed, order);
    for (std::size_t r = 0; r < most_readers; ++r) ring(segment_->place(r).bell, segment_->place(r).sleeps);
    if (control.held() && !segment_->anyone_lives()) segment_->unname();
}

std::size_t Writer::acquired() {
    const std::lock_guard lock(mutex_);
    return claims_.size();
}

std::size_t Writer::readers() {
    std::size_t count = 0;
    for (std::size_t r = 0; r < most_readers; ++r) count += segment_->reader_lives(r);
    return count;
}

}  // namespace nearfield::stream
