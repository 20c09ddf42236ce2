// The writing end of a ring: acquire slots, fill them, commit them in order.
#pragma once

#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>
#include <vector>

#include "stream/segment.hpp"

namespace nearfield::stream {

constexpr std::uint64_t endless = ~std::uint64_t(0);

// May be used by several threads. Of a process that was forked from its own it is a dead copy.
class Writer {
public:
    // Makes the ring; takes over one of the same geometry and descriptor whose writer died, if readers wait there and
    // `take_over`; replaces what nobody alive uses. Throws `InUse` where a writer lives, `Refused`.
    static std::unique_ptr<Writer> create(const std::string& path, const Settings& settings, bool take_over);
    // The same on a segment of this process alone, without a name.
    explicit Writer(std::shared_ptr<Segment> segment);
    ~Writer();
    Writer(const Writer&) = delete;
    Writer& operator=(const Writer&) = delete;

    // A slot to fill, waiting for one at most so long. Throws `Refused` where all are acquired already.
    std::optional<std::size_t> acquire(Nanoseconds patience);
    // Hands the slot that was acquired first out to the readers, filled with so many bytes. Throws `Refused`.
    void commit(std::size_t bytes, std::int64_t step, std::string_view meta);
    // Gives back the slot that was acquired last.
    void abandon();
    // The end of data; removes the ring where nobody reads it any more.
    void close();

    std::size_t acquired();
    std::size_t readers();  // that are attached and alive
    const std::shared_ptr<Segment>& segment() const { return segment_; }

private:
    using Mask = std::uint32_t;
    void take_over();
    void finish_commit();
    void require_open() const;
    void retire_left(bool look_for_dead);
    std::vector<Mask> owners() const;
    Mask readers_with(Policy policy) const;
    std::optional<std::size_t> claim(bool count);
    std::optional<std::size_t> make_room(const std::vector<Mask>& owners);
    bool take_back(std::size_t slot, Mask from);
    void drop(ReaderPlace& place);
    bool claimed(std::size_t slot) const;
    Mask recipients(std::size_t slot);
    void blame(std::uint64_t waited, const std::vector<Mask>& owners);

    std::shared_ptr<Segment> segment_;
    std::mutex mutex_;
    std::deque<std::size_t> claims_;
    std::size_t most_claims_ = 1;
    bool open_ = true, waits_ = false;
    std::chrono::steady_clock::time_point last_look_{};
    const int process_;
};

}  // namespace nearfield::stream
