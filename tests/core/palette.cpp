// Coefficients as a palette (core/palette.hpp).
#include "palette.hpp"

#include <doctest/doctest.h>

#include <random>
#include <set>
#include <vector>

#include "cuda/coefficients.hpp"

using namespace nearfield;

namespace {

const Layout layout{
    2, 3, 75, {Slab{}, Slab{}, Slab{20, 4}}};  // five blocks: stretched, stretched, plain, plain, stretched

struct Planes {  // (3, nb, nc) each, of one plane or of equal ones
    std::vector<float> ca = std::vector<float>(3 * layout.nb * layout.nc, 1.0f), cb = ca;
    static long at(long component, long j, long k) { return (component * layout.nb + j) * layout.nc + k; }
};

Palette<float> palette_of(const Planes& planes) {
    Palette<float> palette(layout, true);
    palette.set_planes(0, layout.na, planes.ca.data(), planes.cb.data());
    return palette;
}

const Program& program_of(const Palette<float>& palette, long i, long j) {
    return palette.programs()[palette.row_programs()[layout.row(i, j)]];
}

// Ca and Cb that the program of a row gives a sample; those of a run that does not hold the block are left at NaN.
std::array<float, 2> coefficients(const Palette<float>& palette, long j, long component, long k) {
    const Program& program = program_of(palette, 0, j);
    std::array<float, 2> found{NAN, NAN};
    const long block = k / lanes, lane = k % lanes;
    for (std::uint32_t n = 0; n < program.count; ++n) {
        const Run& run = palette.runs()[program.first + n];
        if (block < run.first || block >= run.last) continue;
        const long offset = run.kind == Kind::uniform ? run.offset : palette.places()[run.offset + block - run.first];
        const float* const values = palette.values() + lanes * offset;
        if (run.kind == Kind::lossy)
            found = {values[2 * component * lanes + lane], values[(2 * component + 1) * lanes + lane]};
        else
            found = {1.0f, values[component * lanes + (run.kind == Kind::uniform ? 0 : lane)]};
    }
    for (std::uint32_t n = 0; n < program.held_count; ++n) {
        const Held& held = palette.held()[program.held_first + n];
        if (held.component == component && k >= held.first && k < held.last) found = {1.0f, 0.0f};
    }
    return found;
}

void check_that_all_are_found(const Planes& planes) {
    const Palette<float> palette = palette_of(planes);
    for (long component = 0; component < 3; ++component)
        for (long j = 0; j < layout.nb; ++j)
            for (long k = 0; k < layout.nc; ++k) {
                const auto [ca, cb] = coefficients(palette, j, component, k);
                const long at = Planes::at(component, j, k);
                CHECK(cb == planes.cb[at]);
                // what stays zero may have any Ca
                if (cb != 0) CHECK(ca == planes.ca[at]);
            }
}

}  // namespace

TEST_CASE("rows of one medium share one program of uniform runs, cut where the CPML begins") {
    Planes planes;
    std::fill(planes.cb.begin(), planes.cb.end(), 0.5f);
    const Palette<float> palette = palette_of(planes);
    for (long row = 1; row < layout.rows(); ++row) CHECK(palette.row_programs()[row] == palette.row_programs()[0]);
    const Program& program = program_of(palette, 0, 0);
    REQUIRE(program.count == 3);
    for (std::uint32_t n = 0; n < 3; ++n) {
        const Run& run = palette.runs()[program.first + n];
        CHECK(run.kind == Kind::uniform);
        CHECK(run.stretched == (n != 1));
    }
    CHECK(palette.distinct_blocks() == 1);
}

TEST_CASE("every sample finds its coefficients") {
    std::mt19937 random(4);
    for (const long media : {1, 2, 7}) {
        Planes planes;
        for (std::size_t n = 0; n < planes.cb.size(); ++n) {
            const long medium = random() % media;
            planes.cb[n] = medium == 1 ? 0.0f : 0.25f + float(medium) / 64;  // medium 1 is metal
            planes.ca[n] = medium > 2 ? 1.0f - float(medium) / 8 : 1.0f;
        }
        check_that_all_are_found(planes);
    }
}

TEST_CASE("a wall leaves a row uniform, and holds its samples at zero") {
    Planes planes;
    for (long j = 0; j < layout.nb; ++j) planes.cb[Planes::at(2, j, 40)] = planes.cb[Planes::at(2, j, 41)] = 0;
    const Palette<float> palette = palette_of(planes);
    const Program& program = program_of(palette, 0, 1);
    for (std::uint32_t n = 0; n < program.count; ++n) CHECK(palette.runs()[program.first + n].kind == Kind::uniform);
    check_that_all_are_found(planes);
}

TEST_CASE("equal blocks are stored once, wherever they lie") {
    Planes planes;
    for (long k = 0; k < layout.nc; ++k)
        for (long n = 0; n < 3 * layout.nb; ++n)
            planes.cb[n * layout.nc + k] = k / lanes % 2 ? 0.25f : 0.5f + float(k % lanes) / 64;
    std::set<std::uint32_t> places;
    const Palette<float> palette = palette_of(planes);
    const Program& program = program_of(palette, 0, 0);
    for (std::uint32_t n = 0; n < program.count; ++n) {
        const Run& run = palette.runs()[program.first + n];
        REQUIRE(run.kind == Kind::lossless);
        for (std::int32_t block = run.first; block < run.last; ++block)
            places.insert(palette.places()[run.offset + block - run.first]);
    }
    CHECK(places.size() == 3);  // even, odd, and the last, which the row ends in
    check_that_all_are_found(planes);
}

TEST_CASE("what a row takes changes that row's program alone, until it is forgotten") {
    Palette<float> palette = palette_of(Planes{});
    const std::uint32_t plain = palette.row_programs()[0];
    const std::vector<Taken> taken{{20, 1, 7}, {40, 2, 8}};
    palette.set_taken(1, taken);
    palette.set_taken(4, taken);
    CHECK(palette.row_programs()[0] == plain);
    CHECK(palette.row_programs()[1] != plain);
    CHECK(palette.row_programs()[4] == palette.row_programs()[1]);
    const Program& program = palette.programs()[palette.row_programs()[1]];
    REQUIRE(program.taken_count == 2);
    CHECK(palette.taken()[program.taken_first + 1].amount == 8);
    CHECK(program.first == palette.programs()[plain].first);
    palette.forget_taken();
    for (long row = 0; row < layout.rows(); ++row) CHECK(palette.row_programs()[row] == plain);
}

TEST_CASE("kernels count no more coefficients of a card than 32 bits hold") {
    Planes planes;
    for (long k = 0; k < layout.nc; ++k)
        planes.cb[Planes::at(0, 0, k)] = float(1 + k);  // five blocks, unlike all others
    cuda::Coefficients<float> fits(layout), few(layout, 4 * 3 * lanes);
    fits.set_planes(0, layout.na, planes.ca.data(), planes.cb.data());
    CHECK(fits.values.size() > 4 * 3 * lanes);
    CHECK(fits.bytes() == 4 * (fits.values.size() + fits.entries.size() + fits.program_of.size()));
    CHECK_THROWS_AS(few.set_planes(0, layout.na, planes.ca.data(), planes.cb.data()), cuda::CardError);
}
