// Kernels on the make-believe device (core/cuda): tiles, launches, numbers, and whether planted faults are found.
#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <vector>

#include "cuda/device.hpp"
#include "cuda/stages.hpp"
#include "cuda/tiles.hpp"

using namespace nearfield;
using namespace nearfield::cuda;

namespace {

const Layout layouts[] = {
    {3, 4, 16, {}},
    {4, 30, 37, {Slab{1, 2}, Slab{0, 1}, Slab{5, 3}}},
    {2, 19, 400, {Slab{}, Slab{9, 2}, Slab{17, 0}}},
    {5, 2, 48, {Slab{2, 1}, Slab{}, Slab{0, 18}}},
    {1, 1, 5, {Slab{}, Slab{}, Slab{2, 3}}},
};

}  // namespace

namespace nearfield::cuda {

template <class Real>
struct Cells {
    Real* values;
    int count;
};
// Planted: a block writes a cell of the next one's, too.
template <class Real>
void overlapping(const Cells<Real>& c) {
    last_phase([&](int thread) {
        const int at = block_number() * (threads_of_block - 1) + thread;
        if (at < c.count) c.values[at] = Real(double(block_number()));
    });
}
// Planted: a thread reads in the phase in which its neighbour writes.
template <class Real>
void racing(const Cells<Real>& c) {
    struct Shared {
        Real of[threads_of_block];
    };
    Shared& shared = block_memory<Shared>();
    last_phase([&](int thread) {
        shared.of[thread] = Real(double(thread));
        c.values[thread] = shared.of[(thread + 1) % threads_of_block];
    });
}
#define OVERLAPPING(Real, a) overlapping<Real>(a)
#define RACING(Real, a) racing<Real>(a)
NEARFIELD_KERNEL(overlapping_kernel, Cells, 0, OVERLAPPING)
NEARFIELD_KERNEL(racing_kernel, Cells, sizeof(double) * threads_of_block, RACING)

}  // namespace nearfield::cuda

namespace {

std::vector<float> made_by(const Kernel& kernel, bool backwards, long blocks, int count) {
    HostDevice device(backwards);
    Buffer<float> cells(device, count);
    const Cells<float> arguments{cells.data(), count};
    device.launch(kernel, blocks, &arguments);
    std::vector<float> found(count);
    cells.read(found.data());
    return found;
}

}  // namespace

TEST_CASE("tiles hold every block of every row once, and none lies partly in a slab") {
    for (const Layout& l : layouts) {
        std::vector<int> times(l.rows() * l.blocks);
        const auto is_unit = [](int axis, long first, long last) { return axis != 1 || last <= 7 || first > 7; };
        for (const Tile& tile : tiles_of(l, is_unit)) {
            CHECK((tile.unit != 0) == (tile.b_slab >= 0 || is_unit(1, tile.j, tile.j + tile.rows)));
            CHECK((tile.rows >= 1 && tile.rows <= most_rows(tile.blocks) && tile.blocks >= 1 && tile.blocks <= 8));
            CHECK((tile.a_slab >= 0) == l.slab[0].holds(tile.i, l.na));
            for (int y = 0; y < tile.rows; ++y) {
                const long j = tile.j + y;
                CHECK((tile.b_slab >= 0) == l.slab[1].holds(j, l.nb));
                if (tile.b_slab >= 0) CHECK(tile.b_slab + y == l.slab[1].index(j, l.nb));
                for (long k = tile.k; k < tile.k + tile.blocks; ++k) {
                    CHECK((tile.c_slab != 0) == (k < l.c_low || k >= l.c_high));
                    ++times.at(l.row(tile.i, j) * l.blocks + k);
                }
            }
        }
        for (const int each : times) CHECK(each == 1);
    }
}

TEST_CASE("blocks that write one another's cells are found by running them backwards") {
    CHECK(made_by(overlapping_kernel[0], false, 3, 700) != made_by(overlapping_kernel[0], true, 3, 700));
}

TEST_CASE("threads that race in a block's memory are found, as is a word that nobody wrote") {
    const std::vector<float> forwards = made_by(racing_kernel[0], false, 1, 256),
                             backwards = made_by(racing_kernel[0], true, 1, 256);
    CHECK(std::isnan(forwards[0]));
    CHECK(backwards[0] == 1);
    CHECK(std::isnan(backwards[255]));
}

TEST_CASE("doubles of kernels flush denormals by themselves, and keep their sign") {
    const double least = std::numeric_limits<double>::min();
    CHECK((Wide(least) * Wide(0.5)).value == 0);
    CHECK(std::signbit((Wide(-least) * Wide(0.5)).value));
    CHECK((Wide(1.5 * least) - Wide(least)).value == 0);
    CHECK((Wide(least) + Wide(least)).value == 2 * least);
    CHECK((Wide(0.1) * Wide(0.3)).value == 0.1 * 0.3);
    CHECK(std::isnan((Wide(std::numeric_limits<double>::infinity()) * Wide(0.0)).value));
}

TEST_CASE("doubles are flushed on their way to a device, and others arrive as they are") {
    HostDevice device(false);
    const double denormal = std::numeric_limits<double>::denorm_min();
    std::vector<double> values(100000, denormal), found(values.size());
    values[99999] = -3.0;
    Buffer<Wide> buffer(device);
    buffer.assign(values);
    buffer.read(found.data());
    CHECK(std::accumulate(found.begin(), found.end(), 0.0) == -3.0);
    CHECK(found[0] == 0);
}

TEST_CASE("terms that share samples follow one another, others share a launch") {
    HostDevice device(false);
    std::vector<Stage<float>> stages;
    const auto reach = [](bool writes, long first, long last) {
        Reach made(writes);
        made.add(2, {first, 0, 0}, {last, 1, 1});
        return made;
    };
    const auto place = [&](Follows kind, const Reach& r) {
        return &stage_for(device, stages, kind, r) - stages.data();
    };
    stages.reserve(16);
    CHECK(place(Follows::points, reach(true, 0, 5)) == 0);
    CHECK(place(Follows::incident, reach(true, 10, 15)) == 1);  // meets nobody, but is of another kind
    CHECK(place(Follows::points, reach(true, 3, 9)) == 0);      // in the list of the first
    CHECK(place(Follows::incident, reach(true, 4, 6)) == 1);    // after the points
    CHECK(place(Follows::points, reach(true, 4, 5)) == 2);      // after that wave
    CHECK(place(Follows::spectrum, reach(false, 0, 1)) == 3);   // a launch of its own
    CHECK(place(Follows::points, reach(false, 0, 1)) == 0);     // two that only read do not wait
    CHECK(place(Follows::points, reach(true, 0, 1)) == 4);      // but a writer waits for a reader
    CHECK(place(Follows::points, reach(true, 20, 21)) == 0);
}
