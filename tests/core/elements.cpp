// Dissipation elements without Python: polynomials of cells, labels on graded and short axes, threads.
#include "elements/analysis.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "elements/interpolant.hpp"

using namespace nearfield::elements;

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
    const Interpolant<double> interpolant(axes, field.data());
    for (const double share : {0.0, 0.01, 0.37, 0.5, 0.93, 1.0}) {
        const Point at{share * axes[0].length, (1 - share) * axes[1].length, share * share * axes[2].length};
        const double x = at[0] * unit, y = at[1] * unit, z = at[2] * unit;
        const Slope found = interpolant(at);
        CHECK(found.value == doctest::Approx(parabola(x, y, z)).epsilon(1e-12));
        CHECK(found.gradient[0] == doctest::Approx((2 * x + z) * unit).epsilon(1e-11));
        CHECK(found.gradient[1] == doctest::Approx((3 - 4 * y) * unit).epsilon(1e-11));
        CHECK(found.gradient[2] == doctest::Approx(x * unit).epsilon(1e-11));
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
