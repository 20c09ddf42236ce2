// Cells that gradient lines cannot leave, held against the interpolant itself and against the lines.
#include "elements/trapping.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <numbers>
#include <random>

#include "elements/analysis.hpp"
#include "elements/steepest.hpp"
#include "elements/trace.hpp"

using namespace nearfield::elements;
using nearfield::isa_available;

namespace {

// Widths that grow and shrink by half of their mean.
std::vector<double> graded(long n) {
    std::vector<double> widths;
    for (long m = 0; m < n; ++m) widths.push_back(1 + 0.5 * std::sin(2 * std::numbers::pi * double(m) / double(n)));
    return widths;
}
const std::vector<double> equal(24, 1.0), ends(23, 1.0), flat(1, 1.0);

std::vector<Lattice> lattices() {
    return {{{24, 24, 24}, {equal, equal, equal}, {true, true, true}},
            {{24, 24, 24}, {ends, graded(24), graded(23)}, {false, true, false}},
            {{1, 24, 24}, {flat, equal, ends}, {false, true, false}},
            {{24, 24, 1}, {equal, graded(23), flat}, {true, false, false}},
            {{24, 1, 3}, {graded(24), flat, std::vector<double>(2, 1.0)}, {true, false, false}}};
}

// Waves at random, of the box's period and down to `shortest` part of it, on a level that rounds them.
template <class T>
std::vector<T> waves(const Lattice& lattice, int seed, int shortest) {
    std::mt19937 draw(seed);
    std::uniform_real_distribution<double> uniform(0, 1);
    std::vector<std::array<double, 5>> each(24);
    for (auto& wave : each) {
        for (int a = 0; a < 3; ++a) wave[a] = std::floor((2 * shortest + 1) * uniform(draw)) - shortest;
        wave[3] = 2 * std::numbers::pi * uniform(draw), wave[4] = uniform(draw);
    }
    std::vector<T> field;
    for (long p = 0; p < lattice.size(); ++p) {
        const Place at = lattice.place(p);
        double value = 3;
        for (const auto& wave : each) {
            double phase = wave[3];
            for (int a = 0; a < 3; ++a) phase += 2 * std::numbers::pi * wave[a] * double(at[a]) / double(lattice.n[a]);
            value += wave[4] * std::cos(phase);
        }
        field.push_back(T(value));
    }
    return field;
}

template <class T>
void faces_bound_the_gradient(const Lattice& lattice) {
    const auto axes = axes_of<T>(lattice);
    const auto field = waves<T>(lattice, 1, 2);
    const Team team = alone(lattice, 2);
    const auto cells = crossings(lattice, axes, field.data(), team);
    const auto around = terrain(axes, field.data(), 1.0);
    std::mt19937 draw(2);
    std::uniform_real_distribution<double> uniform(0, 1);
    long faces = 0, decided = 0, wrong = 0;
    for (long p = 0; p < lattice.size(); ++p) {
        const Place low = lattice.place(p);
        for (int a = 0; a < 3; ++a) {
            const int known = cells[p] >> 2 * a & 3;
            bool inside = lattice.n[a] > 1 && (lattice.periodic[a] || low[a] > 0);
            for (int b = 0; b < 3; ++b) inside = inside && low[b] < long(axes[b].cells.size());
            if (!inside) {
                CHECK(known == 0);  // walls, and points where no cell begins
                continue;
            }
            double at[3][lanes];
            for (int m = 0; m < lanes; ++m)
                for (int b = 0; b < 3; ++b) {
                    const double begin = axes[b].position[low[b]];
                    const bool last = low[b] + 1 == lattice.n[b];
                    const double end = lattice.n[b] == 1 ? begin : last ? axes[b].length : axes[b].position[low[b] + 1];
                    at[b][m] = begin + (b == a ? 0 : uniform(draw)) * (end - begin);
                }
            Slopes found;
            kernels_for<T>().slopes(around, at, lanes, found);
            const double rounding = 100 * double(std::numeric_limits<T>::epsilon());
            for (int m = 0; m < lanes; ++m) {
                wrong += found.gradient[a][m] > rounding && !(known & rises);
                wrong += found.gradient[a][m] < -rounding && !(known & falls);
            }
            ++faces, decided += known == rises || known == falls;
        }
    }
    CHECK(wrong == 0);
    CHECK(decided > faces / 2);
}

struct Found {
    Numbers<Label> labels;
    long trapped = 0, lines = 0;
};

// Labels by lines from all points, with what is known of cells or with none of it.
template <class T>
Found traced_from_all(const Lattice& lattice, const std::vector<T>& field, double sign, bool known, int threads) {
    const auto axes = axes_of<T>(lattice);
    const Team team = alone(lattice, threads);
    Directions directions = steepest(lattice, field.data(), team);
    auto& towards = sign > 0 ? directions.up : directions.down;
    const auto points = nearfield::elements::ends(towards, team);
    const auto labels = followed(lattice, towards, points, team, "labels");
    const auto extrema = refined(lattice, axes, field.data(), points);
    const auto cells = crossings(lattice, axes, field.data(), team);
    if (!known)
        for (long p = 0; p < lattice.size(); ++p) cells[p] = 63;  // every face may be crossed both ways
    const double widest = widest_difference(field.data(), team);
    Lines<T> lines(lattice, axes, field.data(), sign, widest, labels, extrema, 512, team);
    Found made{traced(lines, cells)};
    for (long p = 0; p < lattice.size(); ++p) {
        if (!(cells[p] & trapped)) continue;
        ++made.trapped;
        CHECK(is_whole(lattice, labels.data(), lattice.place(p), p));
        CHECK(made.labels[p] == labels[p]);
    }
    return made;
}

}  // namespace

TEST_CASE("what is known of a face holds all over it, on graded axes, flat ones and such as end") {
    for (const Lattice& lattice : lattices()) {
        faces_bound_the_gradient<float>(lattice);
        faces_bound_the_gradient<double>(lattice);
    }
}

TEST_CASE("lines from cells that none leaves end at their extremum, followed to it step by step") {
    for (const Lattice& lattice : lattices()) {
        if (lattice.n[2] == 3) continue;  // too coarse for elements of its own
        const auto field = waves<float>(lattice, 3, 1);
        for (const double sign : {1.0, -1.0}) {
            const Found with = traced_from_all(lattice, field, sign, true, 1),
                        three = traced_from_all(lattice, field, sign, true, 3),
                        without = traced_from_all(lattice, field, sign, false, 1);
            long other = 0, threads = 0;
            for (long p = 0; p < lattice.size(); ++p) {
                other += with.labels[p] != without.labels[p];
                threads += with.labels[p] != three.labels[p];
            }
            CHECK(threads == 0);
            CHECK(with.trapped == three.trapped);
            CHECK(with.trapped > 2 * without.trapped + lattice.size() / 50);
            CHECK(double(other) <= 0.0025 * double(lattice.size()));  // what the error of steps moves, see elements.md
        }
    }
}

TEST_CASE("faces are known by the same bits on all instruction sets") {
    constexpr long count = 101;
    std::mt19937 draw(5);
    std::uniform_real_distribution<float> uniform(-1, 1);
    std::vector<float> numbers(16 * (count + 3)), weights(12 * count);
    for (auto* each : {&numbers, &weights})
        for (float& number : *each) number = uniform(draw);
    Bernstein<float> beside[2];
    for (auto& each : beside)
        for (int m = 0; m < 4; ++m)
            each.first[m] = uniform(draw), each.second[m] = uniform(draw), each.slope[m] = uniform(draw);
    for (int flat_axes = 0; flat_axes < 4; ++flat_axes) {
        Surroundings<float> around{};
        for (int p = 0; p < 4; ++p)
            for (int r = 0; r < 4; ++r) around.rows[p][r] = numbers.data() + (4 * p + r) * (count + 3) + 1;
        for (int a = 0; a < 2; ++a) around.beside[a] = flat_axes >> a & 1 ? nullptr : &beside[a];
        for (int q = 0; q < 3; ++q) around.z[q] = weights.data() + 4 * q * count;
        around.cells = count;
        const int across = 7 & ~flat_axes;
        std::vector<std::vector<std::uint8_t>> found;
        for (const std::string& isa : isa_available()) {
            found.emplace_back(count);
            kernels_for<float>(isa).faces(around, across, count, found.back().data());
            CHECK(found.back() == found.front());
        }
        CHECK(std::count(found[0].begin(), found[0].end(), 0) == 0);
    }
}
