// Dissipation elements without Python: polynomials of cells, instruction sets, labels on graded and short axes, threads.
#include "elements/analysis.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "elements/kernels.hpp"

using namespace nearfield::elements;
using nearfield::isa_available;

namespace {

constexpr double period = 2 * std::numbers::pi;

// Widths of `n` points over `periods` of 2 pi, growing and shrinking by half of their mean.
std::vector<double> graded(long n, double periods) {
    std::vector<double> widths;
    for (long m = 0; m < n; ++m)
        widths.push_back(periods * period / double(n) * (1 + 0.5 * std::sin(period * double(m) / double(n))));
    return widths;
}

template <class T, class Function>
std::vector<T> sampled(const Lattice& lattice, const Function& function) {
    const auto axes = axes_of<T>(lattice);
    const double unit = least_width(lattice);
    std::vector<T> field;
    for (long p = 0; p < lattice.size(); ++p) {
        const Place at = lattice.place(p);
        field.push_back(T(
            function(axes[0].position[at[0]] * unit, axes[1].position[at[1]] * unit, axes[2].position[at[2]] * unit)));
    }
    return field;
}

}  // namespace

TEST_CASE("an interpolant on graded axes that end has the parabolas among its functions") {
    auto widths = graded(9, 1);
    widths.pop_back();
    const Lattice lattice{{9, 9, 9}, {widths, widths, widths}, {false, false, false}};
    const double unit = least_width(lattice);
    const auto parabola = [](double x, double y, double z) { return x * x - 2 * y * y + x * z + 3 * y - 1; };
    const auto field = sampled<double>(lattice, parabola);
    const auto axes = axes_of<double>(lattice);
    const std::vector<double> parts{0.0, 0.01, 0.37, 0.5, 0.93, 1.0};
    double at[3][lanes];
    for (std::size_t m = 0; m < parts.size(); ++m) {
        const double share = parts[m];
        at[0][m] = share * axes[0].length, at[1][m] = (1 - share) * axes[1].length,
        at[2][m] = share * share * axes[2].length;
    }
    Slopes found;
    kernels_for<double>().slopes(terrain(axes, field.data(), 1.0), at, long(parts.size()), found);
    for (std::size_t m = 0; m < parts.size(); ++m) {
        const double x = at[0][m] * unit, y = at[1][m] * unit, z = at[2][m] * unit;
        CHECK(found.value[m] == doctest::Approx(parabola(x, y, z)).epsilon(1e-12));
        const double gradient[3] = {2 * x + z, 3 - 4 * y, x};
        for (int a = 0; a < 3; ++a) {  // nothing leads outwards
            const bool outwards = (at[a][m] == 0 && gradient[a] < 0) || (at[a][m] == axes[a].length && gradient[a] > 0);
            CHECK(found.gradient[a][m] == doctest::Approx(outwards ? 0 : gradient[a] * unit).epsilon(1e-11));
        }
    }
}

namespace {

bool alike(const double* one, const double* other, long count) { return std::equal(one, one + count, other); }

// Lines from places spread over the box, some at its ends, after several steps on each instruction set.
template <class T>
void same_on_all(const Lattice& lattice) {
    const auto axes = axes_of<T>(lattice);
    const auto field = sampled<T>(lattice, [](double x, double y, double z) {
        return std::cos(x) + 0.8 * std::cos(y + 0.2) + 1.1 * std::cos(z + 0.3) + 0.3 * std::sin(x + y - z);
    });
    for (const double sign : {1.0, -1.0}) {
        const auto around = terrain(axes, field.data(), sign);
        for (long count : {lanes, 5}) {
            Bundle begun{};
            begun.longest = 8;
            for (int m = 0; m < lanes; ++m) {
                for (int a = 0; a < 3; ++a)
                    begun.at[a][m] = axes[a].length * double((7 * m + 5 * a) % lanes) / lanes * (m == 3 ? 0 : 1);
                begun.allowed[m] = tolerance, begun.length[m] = 0.5 + 0.25 * m, begun.went[m] = 1;
            }
            kernels_for<T>().slopes(around, begun.at, count, begun.here);
            std::vector<Bundle> ended;
            for (const std::string& isa : isa_available()) {
                Bundle lines = begun;
                kernels_for<T>(isa).slopes(around, lines.at, count, lines.here);
                for (int step = 0; step < 4; ++step) {
                    kernels_for<T>(isa).step(around, lines, count);
                    for (int a = 0; a < 3; ++a)  // as the tracer does
                        for (int m = 0; m < count; ++m)
                            lines.at[a][m] = std::clamp(lines.at[a][m], 0.0, axes[a].length);
                }
                ended.push_back(lines);
            }
            long went = 0;
            for (int m = 0; m < count; ++m) went += ended[0].at[0][m] != begun.at[0][m];
            CHECK((went > 0) == (axes[0].length > 0));
            for (const Bundle& other : ended) {
                for (int a = 0; a < 3; ++a) {
                    CHECK(alike(other.at[a], ended[0].at[a], count));
                    CHECK(alike(other.here.gradient[a], ended[0].here.gradient[a], count));
                    CHECK(std::equal(other.here.cell[a], other.here.cell[a] + count, ended[0].here.cell[a]));
                }
                CHECK(alike(other.here.value, ended[0].here.value, count));
                CHECK(alike(other.here.steep, ended[0].here.steep, count));
                CHECK(alike(other.length, ended[0].length, count));
                CHECK(alike(other.step, ended[0].step, count));
                CHECK(std::equal(other.went, other.went + count, ended[0].went));
            }
        }
    }
}

}  // namespace

TEST_CASE("lines take the same steps on all instruction sets") {
    const std::vector<double> equal(24, 0.25), ends(23, 0.25);
    for (const Lattice& lattice :
         {Lattice{{24, 24, 24}, {equal, equal, equal}, {true, true, true}},
          Lattice{{24, 24, 24}, {ends, equal, graded(24, 2)}, {false, true, true}},
          Lattice{{1, 24, 24}, {std::vector<double>{1.0}, graded(23, 1), ends}, {false, false, false}}}) {
        same_on_all<float>(lattice);
        same_on_all<double>(lattice);
    }
}

TEST_CASE("the steepest neighbours are the same on all instruction sets") {
    constexpr long count = 101;
    std::vector<float> at, to, weights;
    for (long k = 0; k < count; ++k)
        at.push_back(float(std::sin(k))), to.push_back(float(std::cos(3 * k))), weights.push_back(1 + float(k) / 9);
    for (const float* const own : {static_cast<const float*>(nullptr), static_cast<const float*>(weights.data())}) {
        std::vector<Rivals<float>> found;
        for (const std::string& isa : isa_available()) {
            Rivals<float> up{}, down{};
            kernels_for<float>(isa).weigh(at.data(), to.data(), 1.5f, own, 4, count, up, down);
            kernels_for<float>(isa).weigh(at.data(), weights.data(), 0.5f, own, 7, count, up, down);
            found.push_back(up), found.push_back(down);
        }
        for (std::size_t m = 2; m < found.size(); ++m) {
            CHECK(std::equal(found[m].best, found[m].best + count, found[m % 2].best));
            CHECK(std::equal(found[m].second, found[m].second + count, found[m % 2].second));
            CHECK(std::equal(found[m].code, found[m].code + count, found[m % 2].code));
        }
        CHECK(std::count(found[0].code, found[0].code + count, 4) > 0);
        CHECK(std::count(found[0].code, found[0].code + count, 7) > 0);
    }
}

TEST_CASE("elements are the same for any number of threads, graded, short and flat axes among them") {
    const std::vector<Lattice> lattices{
        {{24, 4, 20}, {graded(24, 2), graded(4, 1), graded(20, 1)}, {true, true, true}},
        {{1, 26, 24}, {std::vector<double>{1.0}, graded(25, 2), graded(24, 2)}, {false, false, true}},
        {{12, 14, 16},
         {std::vector<double>(12, 0.5), std::vector<double>(13, 0.5), graded(16, 1)},
         {true, false, true}}};
    for (const Lattice& lattice : lattices) {
        const auto field = sampled<float>(lattice, [](double x, double y, double z) {
            return std::cos(x) + 0.8 * std::cos(y + 0.2) + 1.1 * std::cos(z + 0.3) + 0.3 * std::sin(x + y - z);
        });
        for (const Method method : {Method::discrete, Method::trace, Method::hybrid}) {
            const Analysis one = analysed(lattice, field.data(), {method, 0.1}, alone(lattice, 1));
            const Analysis three = analysed(lattice, field.data(), {method, 0.1, 100}, alone(lattice, 3));
            CHECK(std::equal(one.labels.data(), one.labels.data() + lattice.size(), three.labels.data()));
            long points = 0;
            for (const Element& element : one.elements) points += element.points;
            CHECK(points == lattice.size());
            CHECK(one.maxima.size() >= 1);
        }
    }
}
