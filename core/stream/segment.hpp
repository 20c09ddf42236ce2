// The shared memory of a ring: a file of the kernel's memory file system, made whole and then named, mapped once a
// process and party. Control of who takes part goes under a lock that the kernel frees when its holder dies.
#pragma once

#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "machine/pages.hpp"
#include "stream/layout.hpp"
#include "stream/peer.hpp"
#include "stream/queue.hpp"

namespace nearfield::stream {

// Wrong input, or what this system cannot give; says what, why, and what to do.
struct Refused : std::runtime_error {
    using std::runtime_error::runtime_error;
};
// There is a ring of this name whose parties live.
struct InUse : std::runtime_error {
    using std::runtime_error::runtime_error;
};

struct Settings {
    std::size_t blocks = 0, block_bytes = 0;
    std::string descriptor;
    bool checksums = false;
    MemoryPolicy memory = MemoryPolicy::off;
    std::vector<int> nodes;
};

class Segment {
public:
    // A ring of which nobody knows yet, its pages present and where they were asked for. Throws `Refused` where there
    // is no room; nothing is left behind.
    static std::shared_ptr<Segment> make(const std::string& path, const Settings& settings);
    // The ring of this name; null where there is none. `receives`: its data cannot be written through this mapping,
    // and its pages are mapped at once. Throws `Refused` for a file that is no ring of this version.
    static std::shared_ptr<Segment> open(const std::string& path, bool receives);
    // Removes the name of a ring; throws `InUse` where one of its parties lives.
    static void remove(const std::string& path);
    ~Segment();
    Segment(const Segment&) = delete;
    Segment& operator=(const Segment&) = delete;

    // Gives the ring its name; false where another took it first.
    bool publish();
    // Whether the name still means this ring, and taking it away; both under the lock.
    bool named() const;
    void unname();

    Header& header() const { return *reinterpret_cast<Header*>(base_); }
    const Geometry& geometry() const { return geometry_; }
    const std::string& path() const { return path_; }
    Slot& slot(std::size_t n) const { return reinterpret_cast<Slot*>(base_ + geometry_.slots_at)[n]; }
    ReaderPlace& place(std::size_t reader) const { return header().readers[reader]; }
    Queue queue(std::size_t reader) const;
    Count* histogram() const { return reinterpret_cast<Count*>(base_ + geometry_.histogram_at); }
    unsigned char* block(std::size_t n) const { return base_ + geometry_.data_at + n * geometry_.stride; }
    std::string_view descriptor() const;
    // Where the pages of the data lie; those of at most `sample` pages are looked up.
    PageCounts pages(long sample) const;

    // Frees what a reader held, and its place: the living writer does it, or whoever holds the lock of a ring without
    // one.
    void retire(std::size_t reader);
    Process writer() const;
    bool writer_lives() const;  // and has not closed
    bool reader_lives(std::size_t reader) const;
    bool anyone_lives() const;

private:
    friend class Lock;
    Segment(int file, std::string path, const Geometry& geometry);
    void fill_in(const Settings& settings);
    int file_;
    std::string path_;
    Geometry geometry_;
    unsigned char* base_ = nullptr;
    std::mutex threads_;
};

// While it lives nobody else attaches, leaves, takes over or removes. `held()` is false where another process has had
// the lock for so long.
class Lock {
public:
    explicit Lock(Segment& segment, Nanoseconds at_most = std::chrono::seconds(2));
    ~Lock();
    bool held() const { return held_; }

private:
    std::unique_lock<std::mutex> threads_;
    int file_;
    bool held_;
};

}  // namespace nearfield::stream
