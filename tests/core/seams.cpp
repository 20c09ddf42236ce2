// Copies at the seams of periodic axes (core/cpu/seams.hpp).
#include "seams.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <complex>

using namespace nearfield;

namespace {

using Complex = std::complex<double>;
const std::array<Extent, 3> own{Extent{0, 3}, Extent{0, 4}, Extent{0, 20}};

// A value of its own for every sample of a field.
Complex value(int component, long i, long j, long k) {
    return {1.0 + double(((component * 5 + i) * 7 + j) * 23 + k), -0.5 * double(component + i + 2 * j + 3 * k) - 1};
}

struct Filled {
    Seams seams;
    Block<double> block;
    SeamCopies<double> copies{block, seams};

    Filled(const Seams& s, int parts) : seams(s), block(Layout{3, 4, 20, {}}, false, parts) {
        const Layout& l = block.layout;
        for (int component = 0; component < 6; ++component)
            for (long i = 0; i < l.na; ++i)
                for (long j = 0; j < l.nb; ++j)
                    for (long k = 0; k < l.nc; ++k) {
                        block.field(component, i, j)[k] = value(component, i, j, k).real();
                        if (parts > 1) block.field(component + 6, i, j)[k] = value(component, i, j, k).imag();
                    }
    }
    Complex at(int component, long i, long j, long k) {
        return {block.field(component, i, j)[k], block.parts > 1 ? block.field(component + 6, i, j)[k] : 0.0};
    }
};

constexpr Seam closed{true, 1, 0, -1}, open{};

}  // namespace

TEST_CASE("E past the end of a closed axis is the first, H before its beginning the last") {
    for (int axis = 0; axis < 3; ++axis) {
        Seams seams{open, open, open};
        seams[axis] = closed;
        Filled filled(seams, 1);
        filled.copies.carry_all(own, false, 1);
        const long length[3] = {3, 4, 20};
        for (int c = 0; c < 3; ++c) {
            if (c == axis) continue;  // a curl reads no component along the axis
            for (long n = 0; n < 3; ++n) {
                long first[3] = {n, n, n}, past[3] = {n, n, n}, last[3] = {n, n, n}, before[3] = {n, n, n};
                first[axis] = 0, past[axis] = length[axis], last[axis] = length[axis] - 1, before[axis] = -1;
                CHECK(filled.at(c, past[0], past[1], past[2]) == value(c, first[0], first[1], first[2]).real());
                CHECK(filled.at(3 + c, before[0], before[1], before[2]) ==
                      value(3 + c, last[0], last[1], last[2]).real());
            }
        }
    }
}

TEST_CASE("complex fields turn by the angle of a period, forward and back") {
    // one product and one sum in each part: four roundings of values below 1000
    const double angle = 0.7, close = 4 * 1000 * 2.3e-16;
    const Complex turn{std::cos(angle), -std::sin(angle)};  // F(n) = F(0) (cosine - j sine)
    Seams seams{open, open, open};
    for (int axis = 0; axis < 2; ++axis) {
        seams = {open, open, open};
        seams[axis] = {true, std::cos(angle), std::sin(angle), -1};
        Filled filled(seams, 2);
        filled.copies.carry_all(own, false, 1);
        const int c = 1 - axis;
        for (long k = 0; k < 20; ++k) {
            const Complex past = axis ? filled.at(c, 1, 4, k) : filled.at(c, 3, 1, k);
            const Complex first = axis ? value(c, 1, 0, k) : value(c, 0, 1, k);
            CHECK(std::abs(past - first * turn) < close);
            const Complex before = axis ? filled.at(3 + c, 1, -1, k) : filled.at(3 + c, -1, 1, k);
            const Complex last = axis ? value(3 + c, 1, 3, k) : value(3 + c, 2, 1, k);
            CHECK(std::abs(before - last * std::conj(turn)) < close);
        }
    }
}

TEST_CASE("where E reaches two rows, H goes round corners") {
    Filled filled({closed, closed, closed}, 1);
    filled.copies.carry_all(own, false, 2);
    for (int component = 3; component < 6; ++component)
        for (long i = -1; i <= 3; ++i)
            for (long j = -1; j <= 4; ++j)
                for (long k = -1; k <= 20; ++k) {
                    const Complex wanted = value(component, (i + 3) % 3, (j + 4) % 4, (k + 20) % 20);
                    CHECK(filled.at(component, i, j, k) == wanted.real());
                }
}

TEST_CASE("open axes get no copies") {
    Filled filled({open, open, open}, 1);
    CHECK_FALSE(filled.copies.any());
    filled.copies.carry_all(own, false, 1);
    for (int component = 0; component < 6; ++component) {
        CHECK(filled.at(component, -1, 0, 0) == 0.0);
        CHECK(filled.at(component, 0, 4, 0) == 0.0);
        CHECK(filled.at(component, 0, 0, 20) == 0.0);
    }
}
