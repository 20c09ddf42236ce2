#include "stream/segment.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <ctime>
#include <memory>
#include <new>
#include <system_error>
#include <thread>

#include "stream/shared_pages.hpp"

namespace nearfield::stream {
namespace {

std::uint64_t up(std::uint64_t bytes, std::uint64_t to) { return (bytes + to - 1) / to * to; }

// Recomputed from its first fields wherever a ring is opened: a header that says otherwise is not believed.
Geometry geometry_of(std::uint64_t blocks, std::uint64_t block_bytes, std::uint64_t descriptor_bytes, bool checksums,
                     std::uint64_t page) {
    Geometry g{blocks, block_bytes, up(block_bytes, page), descriptor_bytes, checksums};
    g.slots_at = up(sizeof(Header), page);
    g.queues_at = up(g.slots_at + blocks * sizeof(Slot), line);
    g.histogram_at = up(g.queues_at + most_readers * Queue::capacity(blocks) * sizeof(Entry), line);
    g.descriptor_at = up(g.histogram_at + (blocks + 1) * sizeof(Count), line);
    g.data_at = up(g.descriptor_at + descriptor_bytes, page);
    g.bytes = g.data_at + blocks * g.stride;
    return g;
}

std::string words(int error) { return std::generic_category().message(error); }
std::string megabytes(double bytes) { return std::to_string(long(bytes / 1e6 + 0.5)) + " MB"; }

std::string too_small(const std::string& folder, double wanted, double free) {
    return "the ring needs " + megabytes(wanted) + ", but " + folder + " has " + megabytes(free) +
           " left. Use fewer or smaller blocks, remove what was left there (`nearfield ring rm --stale`), or make it "
           "larger "
           "(mount -o remount,size=..., docker --shm-size)";
}

// The first fields of a file, if it is a ring of this version and as long as it says.
Geometry geometry_in(int file, const std::string& path) {
    Preface first{};
    struct stat found{};
    const bool whole = pread(file, &first, sizeof first, 0) == long(sizeof first) && fstat(file, &found) == 0;
    const std::string what = path + " is no ring of this version of Nearfield";
    if (!whole || std::memcmp(first.magic, magic, sizeof magic) || first.byte_order != byte_order || first.abi != abi)
        throw Refused(what + ". Choose another name, or remove it");
    const Geometry& said = first.geometry;
    if (said.blocks < 1 || said.blocks > most_blocks || said.block_bytes > std::uint64_t(found.st_size) ||
        said.descriptor_bytes > most_descriptor)
        throw Refused(what + ": its header is damaged. Remove it");
    const Geometry g = geometry_of(said.blocks, said.block_bytes, said.descriptor_bytes, said.checksums, page_bytes());
    if (std::memcmp(&g, &said, sizeof g) || g.bytes != std::uint64_t(found.st_size))
        throw Refused(what + ": its header is damaged. Remove it");
    return g;
}

double now() {
    timespec time{};
    clock_gettime(CLOCK_REALTIME, &time);
    return double(time.tv_sec) + 1e-9 * double(time.tv_nsec);
}

}  // namespace

Segment::Segment(int file, std::string path, const Geometry& geometry)
    : file_(file), path_(std::move(path)), geometry_(geometry) {
    base_ = map_shared(file, geometry.bytes);
    if (!base_) {
        const int error = errno;
        close(file);
        throw Refused(path_ + " cannot be mapped: " + words(error));
    }
}

Segment::~Segment() {
    munmap(base_, geometry_.bytes);
    close(file_);
}

std::shared_ptr<Segment> Segment::make(const std::string& path, const Settings& s) {
    const std::string folder = path.substr(0, path.rfind('/'));
    const Geometry g = geometry_of(s.blocks, s.block_bytes, s.descriptor.size(), s.checksums, page_bytes());
    const int file = ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (file < 0) throw Refused("no ring can be made in " + folder + ": " + words(errno));
    struct statvfs room{};
    const double free = fstatvfs(file, &room) == 0 ? double(room.f_bavail) * double(room.f_frsize) : 0;
    if (room.f_blocks && free < double(g.bytes)) {  // no blocks: no limit
        close(file);
        throw Refused(too_small(folder, double(g.bytes), free));
    }
    if (ftruncate(file, long(g.bytes))) {
        close(file);
        throw Refused("no ring can be made in " + folder + ": " + words(errno));
    }
    std::shared_ptr<Segment> made(new Segment(file, path, g));
    place_pages(file, made->base_, g.bytes, s);
    made->fill_in(s);
    return made;
}

void Segment::fill_in(const Settings& settings) {
    Header& header = *new (base_) Header;
    std::memcpy(header.preface.magic, magic, sizeof magic);
    header.preface.abi = abi, header.preface.byte_order = byte_order;
    header.preface.geometry = geometry_;
    header.created = now();
    for (std::size_t n = 0; n < geometry_.blocks; ++n) new (&slot(n)) Slot;
    std::memcpy(base_ + geometry_.descriptor_at, settings.descriptor.data(), settings.descriptor.size());
    store(header.writer[0], this_process());
}

std::shared_ptr<Segment> Segment::open(const std::string& path, bool receives) {
    const int file = ::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (file < 0 && errno == ENOENT) return nullptr;
    if (file < 0) throw Refused(path + " cannot be opened: " + words(errno));
    Geometry geometry;
    try {
        geometry = geometry_in(file, path);
    } catch (...) {
        close(file);
        throw;
    }
    std::shared_ptr<Segment> found(new Segment(file, path, geometry));
    if (receives) {
        unsigned char* const data = found->block(0);
        mprotect(data, geometry.blocks * geometry.stride, PROT_READ);
        populate_read(data, geometry.blocks * geometry.stride);
    }
    return found;
}

void Segment::remove(const std::string& path) {
    const auto found = open(path, false);
    if (!found) return;
    const Lock lock(*found);
    if (!lock.held() || found->anyone_lives()) throw InUse(path + " is in use");
    found->unname();
}

bool Segment::publish() {
    const std::string mine = "/proc/self/fd/" + std::to_string(file_);
    if (linkat(AT_FDCWD, mine.c_str(), AT_FDCWD, path_.c_str(), AT_SYMLINK_FOLLOW) == 0) return true;
    if (errno == EEXIST) return false;
    throw Refused(path_ + " cannot be made: " + words(errno));
}

bool Segment::named() const {
    struct stat mine{}, there{};
    return fstat(file_, &mine) == 0 && lstat(path_.c_str(), &there) == 0 && mine.st_ino == there.st_ino &&
           mine.st_dev == there.st_dev;
}

void Segment::unname() {
    if (named()) unlink(path_.c_str());
}

Queue Segment::queue(std::size_t reader) const {
    auto* const entries = reinterpret_cast<std::atomic<Entry>*>(base_ + geometry_.queues_at);
    return {place(reader).queue, entries + reader * Queue::capacity(geometry_.blocks), geometry_.blocks};
}

std::string_view Segment::descriptor() const {
    return {reinterpret_cast<const char*>(base_ + geometry_.descriptor_at), geometry_.descriptor_bytes};
}

PageCounts Segment::pages(long sample) const {
    const std::size_t bytes = geometry_.blocks * geometry_.stride;
    const long all = long(bytes / page_bytes()), asked = std::min(all, std::max(1l, sample));
    for (long n = 0; n < asked; ++n)  // a page that this process has not touched lies nowhere for it
        static_cast<void>(*static_cast<volatile unsigned char*>(block(0) + page_bytes() * (n * all / asked)));
    return pages_by_node(block(0), bytes, sample);
}

void Segment::retire(std::size_t reader) {
    for (std::size_t n = 0; n < geometry_.blocks; ++n)
        slot(n).held.fetch_and(~(1u << reader), std::memory_order_seq_cst);
    place(reader).phase.store(vacant, std::memory_order_release);
}

Process Segment::writer() const { return load(header().writer[header().epoch.load(std::memory_order_acquire) & 1]); }

bool Segment::writer_lives() const {
    return header().state.load(std::memory_order_acquire) == running && alive(writer());
}

bool Segment::reader_lives(std::size_t reader) const {
    return place(reader).phase.load(std::memory_order_acquire) == attached && alive(load(place(reader).process));
}

bool Segment::anyone_lives() const {
    if (writer_lives()) return true;
    for (std::size_t r = 0; r < most_readers; ++r)
        if (reader_lives(r)) return true;
    return false;
}

Lock::Lock(Segment& segment, Nanoseconds at_most) : threads_(segment.threads_), file_(segment.file_), held_(false) {
    const auto end = std::chrono::steady_clock::now() + at_most;
    while (!(held_ = flock(file_, LOCK_EX | LOCK_NB) == 0) && std::chrono::steady_clock::now() < end)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

Lock::~Lock() {
    if (held_) flock(file_, LOCK_UN);
}

}  // namespace nearfield::stream
