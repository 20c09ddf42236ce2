#include "stream/reader.hpp"

#include <unistd.h>

#include <algorithm>
#include <thread>

#include "stream/checksum.hpp"

namespace nearfield::stream {
namespace {

constexpr auto order = std::memory_order_seq_cst;

std::size_t vacant_place(Segment& segment) {
    const bool written = segment.writer_lives();  // then leaving readers are its business
    for (std::size_t r = 0; r < most_readers; ++r) {
        if (!written && segment.place(r).phase.load(order) == leaving) segment.retire(r);
        if (segment.place(r).phase.load(order) == vacant) return r;
    }
    throw Refused("all " + std::to_string(most_readers) + " places of " + segment.path() + " are taken by readers");
}

}  // namespace

std::unique_ptr<Reader> Reader::attach(const std::string& path, Policy policy) {
    const auto segment = Segment::open(path, true);
    if (!segment) return nullptr;
    if (!in_reach(segment->writer()))
        throw Refused("the writer of " + path +
                      " runs in another container (name space of processes), where its death could not be "
                      "noticed. Share the name space, as docker run --pid does");
    const Lock lock(*segment);
    if (!lock.held()) throw InUse("another process holds the lock of " + path);
    if (!segment->named() || (!segment->writer_lives() && segment->header().state == running)) return nullptr;
    return std::make_unique<Reader>(segment, policy);
}

Reader::Reader(std::shared_ptr<Segment> segment, Policy policy) : segment_(std::move(segment)), process_(getpid()) {
    index_ = vacant_place(*segment_);
    ReaderPlace& place = segment_->place(index_);
    place.policy.store(policy, order);
    store(place.process, this_process());
    place.joined.store(0, order), place.queue.store(0, order), place.sleeps.store(0, order);
    for (Count* count : {&place.received, &place.dropped, &place.waited}) count->store(0, order);
    epoch_ = mourned_ = segment_->header().epoch.load(order);
    place.phase.store(attached, order);
}

Reader::~Reader() {
    try {
        close();
    } catch (...) {
        open_ = false;  // the writer finds out
    }
}

void Reader::require_open() const {
    if (!open_) throw Refused("this reader is closed");
    if (getpid() != process_) throw Refused("this reader belongs to the process that this one was forked from");
}

std::optional<Entry> Reader::take() {
    const std::uint32_t mine = 1u << index_;
    return segment_->queue(index_).take([&](std::size_t slot) { segment_->slot(slot).held.fetch_or(mine, order); },
                                        [&](std::size_t slot) { give_back(slot); });
}

void Reader::give_back(std::size_t slot) {
    segment_->slot(slot).held.fetch_and(~(1u << index_), order);
    ring(segment_->header().room, segment_->header().writer_sleeps);
}

Received Reader::receive(Nanoseconds patience, Block& block) {
    require_open();
    if (receiving_.exchange(true)) throw Refused("another thread receives from this reader");
    struct Done {
        std::atomic<bool>& flag;
        ~Done() { flag = false; }
    } const done{receiving_};
    if (put_off_) {
        const Entry entry = *put_off_;
        put_off_.reset();
        return hand_over(entry, block);
    }
    ReaderPlace& place = segment_->place(index_);
    const Queue queue = segment_->queue(index_);
    const Word& state = segment_->header().state;
    wait(place.bell, place.sleeps, patience,
         [&] { return queue.ends().size() || state.load(order) == closed || !open_; });
    require_open();
    const bool ended = state.load(order) == closed;  // asked before the queue: what was committed comes first
    if (const auto entry = take()) return hand_over(*entry, block);
    if (ended) return Received::end_of_stream;
    const std::uint32_t epoch = segment_->header().epoch.load(order);
    if (alive(load(segment_->header().writer[epoch & 1]))) return Received::timed_out;
    if (const auto entry = take()) return hand_over(*entry, block);
    mourned_ = epoch + 1;
    return Received::writer_died;
}

Received Reader::hand_over(Entry entry, Block& block) {
    const std::size_t n = slot_of(entry);
    const Slot& slot = segment_->slot(n);
    epoch_ = slot.epoch;
    if (mourned_ < epoch_) {
        mourned_ = epoch_;
        put_off_ = entry;
        return Received::writer_died;
    }
    const bool intact = !segment_->geometry().checksums || crc32c(segment_->block(n), slot.bytes) == slot.checksum;
    const std::lock_guard lock(mutex_);
    held_.push_back(n);
    if (expected_ == ~std::uint64_t(0)) expected_ = segment_->place(index_).joined.load(order) - 1;
    const std::uint64_t sequence = sequence_of(entry);
    block = {n, sequence, slot.bytes, sequence - expected_, slot.step, slot.epoch, slot.time, intact};
    expected_ = sequence + 1;
    segment_->place(index_).received.fetch_add(1);
    return Received::block;
}

void Reader::release(std::size_t slot) {
    const std::lock_guard lock(mutex_);
    require_open();
    const auto found = std::find(held_.begin(), held_.end(), slot);
    if (found == held_.end()) throw Refused("this block was released before");
    held_.erase(found);
    give_back(slot);
}

void Reader::close() {
    if (!open_.exchange(false) || getpid() != process_) return;
    ReaderPlace& place = segment_->place(index_);
    while (receiving_.exchange(true)) {  // a thread that receives must not touch the place when it is another's
        ring(place.bell, place.sleeps);
        std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
    const std::lock_guard lock(mutex_);
    const Lock control(*segment_);
    place.phase.store(leaving, order);
    if (control.held() && !segment_->writer_lives()) segment_->retire(index_);
    ring(segment_->header().room, segment_->header().writer_sleeps);
    if (control.held() && !segment_->anyone_lives()) segment_->unname();
}

}  // namespace nearfield::stream
