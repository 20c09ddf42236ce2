// The Python face of the ring: views into shared memory, and waits that signals end.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <system_error>

#include "stream/checksum.hpp"
#include "stream/copy.hpp"
#include "stream/reader.hpp"
#include "stream/writer.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using namespace nearfield::stream;
using nearfield::MemoryPolicy;

namespace {

using Shared = std::shared_ptr<Segment>;
using Bytes = nb::ndarray<nb::numpy, unsigned char, nb::ndim<1>>;
using Constant = nb::ndarray<nb::numpy, const unsigned char, nb::ndim<1>>;
using Checksums = nb::ndarray<nb::numpy, std::uint32_t, nb::ndim<1>, nb::c_contig>;
using Clock = std::chrono::steady_clock;

constexpr Nanoseconds slice = std::chrono::milliseconds(100);  // between two looks at signals, and at who lives

// A view that keeps its memory mapped.
template <class View>
nb::object view(const Shared& segment, std::size_t slot, std::size_t bytes) {
    const nb::capsule owner(new Shared(segment), [](void* p) noexcept { delete static_cast<Shared*>(p); });
    return nb::cast(View(segment->block(slot), {bytes}, owner));
}

// Asks in slices until there is an answer or no time is left; negative seconds: as long as it takes.
template <class Ask>
auto patiently(double seconds, Ask ask) {
    const auto begun = Clock::now();
    for (;;) {
        Nanoseconds left = slice;
        if (seconds >= 0) {
            const auto spent = std::chrono::duration<double>(Clock::now() - begun).count();
            left = std::min(slice, Nanoseconds(long(1e9 * std::clamp(seconds - spent, 0.0, 1.0))));
        }
        auto answer = [&] {
            const nb::gil_scoped_release release;
            return ask(left);
        }();
        if (answer || left < slice) return answer;
        if (PyErr_CheckSignals()) throw nb::python_error();
    }
}

nb::object acquire(Writer& writer, double seconds) {
    const auto slot = patiently(seconds, [&](Nanoseconds left) { return writer.acquire(left); });
    if (!slot) return nb::none();
    return view<Bytes>(writer.segment(), *slot, writer.segment()->geometry().block_bytes);
}

void commit(Writer& writer, std::size_t bytes, std::int64_t step, nb::bytes meta) {
    const std::string_view kept(meta.c_str(), meta.size());
    const nb::gil_scoped_release release;
    writer.commit(bytes, step, kept);
}

nb::dict described(const Reader& reader, const Block& block) {
    const Shared& segment = reader.segment();
    const Slot& slot = segment->slot(block.slot);
    nb::dict d;
    d["slot"] = block.slot, d["seq"] = block.sequence, d["step"] = block.step, d["missed"] = block.missed;
    d["epoch"] = block.epoch, d["time"] = block.time, d["intact"] = block.intact;
    d["meta"] = nb::bytes(reinterpret_cast<const char*>(slot.meta), slot.meta_bytes);
    d["data"] = view<Constant>(segment, block.slot, block.bytes);
    return d;
}

nb::object receive(Reader& reader, double seconds) {
    Block block;
    const auto found = patiently(seconds, [&](Nanoseconds left) -> std::optional<Received> {
        const Received received = reader.receive(left, block);
        return received == Received::timed_out ? std::nullopt : std::optional(received);
    });
    if (!found) return nb::str("timed out");
    if (*found == Received::end_of_stream) return nb::str("end of stream");
    if (*found == Received::writer_died) return nb::str("writer died");
    return described(reader, block);
}

nb::dict party(const Process& process) {
    nb::dict d;
    d["pid"] = process.number;
    d["alive"] = alive(process);
    return d;
}

nb::dict reader_facts(const Segment& segment, std::size_t r) {
    const ReaderPlace& place = segment.place(r);
    const char* names[] = {"block", "drop-newest", "drop-oldest"};
    nb::dict d = party(load(place.process));
    d["place"] = r;
    d["policy"] = names[std::size_t(place.policy.load()) % 3];
    d["received"] = place.received.load(), d["dropped"] = place.dropped.load();
    d["seconds_waited_for"] = 1e-9 * double(place.waited.load());
    d["pending"] = segment.queue(r).ends().size();
    std::size_t held = 0;
    for (std::size_t n = 0; n < segment.geometry().blocks; ++n) held += segment.slot(n).held.load() >> r & 1;
    d["held"] = held;
    return d;
}

nb::dict facts(const Segment& segment) {
    const Header& header = segment.header();
    const Geometry& geometry = segment.geometry();
    nb::list readers, histogram;
    for (std::size_t r = 0; r < most_readers; ++r)
        if (segment.place(r).phase.load() == attached) readers.append(reader_facts(segment, r));
    for (std::size_t n = 0; n <= geometry.blocks; ++n) histogram.append(segment.histogram()[n].load());
    nb::dict d;
    d["path"] = segment.path(), d["total_bytes"] = geometry.bytes;
    d["ring_blocks"] = geometry.blocks, d["block_bytes"] = geometry.block_bytes;
    d["checksum"] = bool(geometry.checksums), d["created"] = header.created;
    d["epoch"] = header.epoch.load(), d["closed"] = header.state.load() == closed;
    d["writer"] = party(segment.writer()), d["in_use"] = segment.anyone_lives();
    d["blocks"] = header.head.load(), d["bytes"] = header.bytes.load();
    d["named"] = segment.named(), d["dropped"] = header.dropped.load();
    d["seconds_waited"] = 1e-9 * double(header.waited.load()), d["readers_died"] = header.deaths.load();
    d["readers"] = readers, d["fill_levels"] = histogram;
    return d;
}

nb::object inspected(const std::string& path) {
    const Shared segment = Segment::open(path, false);
    return segment ? nb::object(facts(*segment)) : nb::none();
}

// Containers may forbid to ask.
nb::dict placed(const Segment& segment, long sample) {
    nb::dict d;
    d["by_node"] = std::vector<long>{};
    d["pages"] = segment.geometry().blocks * segment.geometry().stride / std::size_t(sysconf(_SC_PAGESIZE));
    try {
        d["by_node"] = segment.pages(sample).by_node;
    } catch (const std::system_error& error) {
        d["reason"] = error.what();
    }
    return d;
}

nb::object placed_at(const std::string& path, long sample) {
    const Shared segment = Segment::open(path, false);
    return segment ? nb::object(placed(*segment, sample)) : nb::none();
}

nb::bytes descriptor(const Segment& segment) {
    const std::string_view text = segment.descriptor();
    return nb::bytes(text.data(), text.size());
}

std::unique_ptr<Writer> create(const std::string& path, std::size_t blocks, std::size_t block_bytes,
                               nb::bytes descriptor, bool checksum, const std::string& memory, std::vector<int> nodes,
                               bool take_over) {
    const MemoryPolicy policy = memory == "bind"         ? MemoryPolicy::bind
                                : memory == "interleave" ? MemoryPolicy::interleave
                                                         : MemoryPolicy::off;
    const Settings settings{blocks,   block_bytes, {descriptor.c_str(), descriptor.size()},
                            checksum, policy,      std::move(nodes)};
    const nb::gil_scoped_release release;
    return Writer::create(path, settings, take_over);
}

std::unique_ptr<Reader> attach(const std::string& path, int policy) {
    const nb::gil_scoped_release release;
    return Reader::attach(path, Policy(policy));
}

void bind_ends(nb::module_& m) {
    nb::class_<Writer>(m, "Writer")
        .def("acquire", &acquire, "seconds"_a)
        .def("commit", &commit, "bytes"_a, "step"_a, "meta"_a)
        .def("abandon", &Writer::abandon)
        .def("close", &Writer::close, nb::call_guard<nb::gil_scoped_release>())
        .def_prop_ro("acquired", &Writer::acquired)
        .def_prop_ro("readers", &Writer::readers)
        .def("facts", [](const Writer& w) { return facts(*w.segment()); })
        .def("pages", [](const Writer& w, long sample) { return placed(*w.segment(), sample); }, "sample"_a);
    nb::class_<Reader>(m, "Reader")
        .def("receive", &receive, "seconds"_a)
        .def("release", &Reader::release, "slot"_a)
        .def("close", &Reader::close, nb::call_guard<nb::gil_scoped_release>())
        .def_prop_ro("place", &Reader::index)
        .def("facts", [](const Reader& r) { return facts(*r.segment()); })
        .def("descriptor", [](const Reader& r) { return descriptor(*r.segment()); });
}

}  // namespace

void bind_stream(nb::module_& m) {
    nb::exception<Refused>(m, "Refused");
    nb::exception<InUse>(m, "InUse");
    bind_ends(m);
    m.attr("MOST_BLOCKS") = most_blocks;
    m.attr("MOST_META") = most_meta;
    m.attr("MOST_DESCRIPTOR") = most_descriptor;
    m.attr("MOST_READERS") = most_readers;
    m.def("create", &create, "path"_a, "blocks"_a, "block_bytes"_a, "descriptor"_a, "checksum"_a, "memory"_a, "nodes"_a,
          "take_over"_a);
    m.def("attach", &attach, "path"_a, "policy"_a);
    m.def("inspect", &inspected, "path"_a);
    m.def("pages", &placed_at, "path"_a, "sample"_a);
    m.def("remove", &Segment::remove, "path"_a);
    m.def("crc32c", [](Constant data) { return crc32c(data.data(), data.size()); }, "data"_a);
    m.def("crc32c_by_table", [](Constant data) { return crc32c_by_table(data.data(), data.size()); }, "data"_a);
    m.def(
        "crc32c_pieces",
        [](Constant data, std::size_t piece, Checksums found) {
            if (piece == 0 || piece % 8 || (data.size() + piece - 1) / piece != found.size())
                throw std::invalid_argument("a piece is a multiple of 8 bytes, and each has one checksum");
            const nb::gil_scoped_release release;
            crc32c_pieces(data.data(), data.size(), piece, found.data());
        },
        "data"_a, "piece"_a, "found"_a.noconvert());
    m.def(
        "copy_past_caches",
        [](Bytes to, Constant from) {
            if (to.size() < from.size()) throw std::invalid_argument("the destination is smaller than the source");
            const nb::gil_scoped_release release;
            copy_past_caches(to.data(), from.data(), from.size());
        },
        "to"_a.noconvert(), "source"_a);
    m.def(
        "write_words",
        [](Bytes to, std::uint64_t first) {
            const nb::gil_scoped_release release;
            write_words(to.data(), to.size(), first);
        },
        "to"_a.noconvert(), "first"_a);
    m.def(
        "sum_words",
        [](Constant from) {
            const nb::gil_scoped_release release;
            return sum_words(from.data(), from.size());
        },
        "source"_a);
}
