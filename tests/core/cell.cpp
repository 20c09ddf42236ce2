// The arithmetic of one sample (core/cell), which vectors of rows and scalars share.
#include <doctest/doctest.h>

#include <cstring>
#include <random>
#include <vector>

#include "cell/circuit.h"
#include "cell/coupling.h"
#include "cell/cpml.h"
#include "cell/curl.h"
#include "cell/incident.h"
#include "cell/poles.h"

using namespace nearfield;

namespace {

constexpr long width = 8;
typedef float V __attribute__((vector_size(width * sizeof(float))));

float number(std::mt19937& random) { return float(random() >> 8) / float(1 << 23) - 1; }
V vector(std::mt19937& random) {
    V v;
    for (long n = 0; n < width; ++n) v[n] = number(random);
    return v;
}
bool same(const V& v, const std::vector<float>& lanes) { return std::memcmp(&v, lanes.data(), sizeof(V)) == 0; }

struct VectorStates {
    V* first;
    V load(long n) const { return first[n]; }
    void store(long n, V value) const { first[n] = value; }
};
struct LaneStates {
    V* first;
    long lane;
    float load(long n) const { return first[n][lane]; }
    void store(long n, float value) const { first[n][lane] = value; }
};

}  // namespace

TEST_CASE("a vector of samples gets the bits of each sample alone") {
    std::mt19937 random(5);
    for (int round = 0; round < 100; ++round) {
        const V e = vector(random), ca = vector(random), cb = vector(random), one = vector(random),
                two = vector(random);
        V psi = vector(random);
        const V old = psi, derivative = cell::stretched(one, ca, cb, two, psi);
        const V electric = cell::advance_electric(e, ca, cb, one, two),
                magnetic = cell::advance_magnetic(e, cb, one, two);
        std::vector<float> derivatives(width), electrics(width), magnetics(width), psis(width);
        for (long n = 0; n < width; ++n) {
            psis[n] = old[n];
            derivatives[n] = cell::stretched(float(one[n]), float(ca[n]), float(cb[n]), float(two[n]), psis[n]);
            electrics[n] =
                cell::advance_electric(float(e[n]), float(ca[n]), float(cb[n]), float(one[n]), float(two[n]));
            magnetics[n] = cell::advance_magnetic(float(e[n]), float(cb[n]), float(one[n]), float(two[n]));
        }
        CHECK(same(derivative, derivatives));
        CHECK(same(psi, psis));
        CHECK(same(electric, electrics));
        CHECK(same(magnetic, magnetics));
    }
}

TEST_CASE("the poles of a vector of samples have the bits of each sample's alone") {
    std::mt19937 random(6);
    constexpr long firsts = 2, seconds = 2, states = firsts + 2 * seconds;
    float numbers[2 * firsts + 4 * seconds];
    for (float& each : numbers) each = number(random);
    V of_vector[states], of_lanes[states];
    for (V& each : of_vector) each = vector(random);
    std::memcpy(of_lanes, of_vector, sizeof(of_lanes));
    for (int step = 0; step < 20; ++step) {
        const V e = vector(random);
        const auto broadcast = [&](long n) { return numbers[n] - V{}; };
        const V sum = cell::remembered(V{}, e, broadcast, VectorStates{of_vector}, firsts, seconds);
        std::vector<float> sums(width);
        for (long n = 0; n < width; ++n)
            sums[n] = cell::remembered(
                0.0f, float(e[n]), [&](long m) { return numbers[m]; }, LaneStates{of_lanes, n}, firsts, seconds);
        CHECK(same(sum, sums));
    }
    CHECK(std::memcmp(of_vector, of_lanes, sizeof(of_lanes)) == 0);
}

TEST_CASE("a pole of second order is its recursion written out") {
    // exact in binary: k = -1/2, rho = 1/4, q = 2, r = 1/2, e = 4, T = 8, U = 16
    struct {
        double* at;
        double load(long n) const { return at[n]; }
        void store(long n, double value) const { at[n] = value; }
    } state{nullptr};
    double t[2] = {8, 16};
    state.at = t;
    const double numbers[4] = {-0.5, 0.25, 2, 0.5};
    CHECK(cell::remembered(0.0, 4.0, [&](long n) { return numbers[n]; }, state, 0, 1) == 8);
    CHECK(t[0] == 8 + (-4 + 16) + 8);
    CHECK(t[1] == 16 + (2 - 8) + 2);
    CHECK(cell::polarised(4.0, 0.5, 2.0, 8.0) == -14);
}

TEST_CASE("one tap has no share, several have theirs") {
    const double shares[3] = {0.5, 0.25, 2}, values[3] = {8, 4, 3};
    const auto share = [&](long n) { return shares[n]; };
    const auto value = [&](long n) { return values[n]; };
    CHECK(cell::interpolated<double>(share, value, 1) == 8);
    CHECK(cell::interpolated<double>(share, value, 3) == 4 + 1 + 6);
}

TEST_CASE("taps of a coupling go to four sums by turns") {
    // 2^24 swallows a 1 in the sum that it is in, and in no other: taps 0 and 4 share one
    std::vector<float> h{0, 16777216, 1, 1, 1, 1};
    const float ones[5] = {1, 1, 1, 1, 1};
    const int near[5] = {1, 2, 3, 4, 5}, far[5] = {2, 1, 3, 4, 5};
    CHECK(cell::coupled(h.data(), ones, near, 5) == (16777216.0f + 1) + 2);
    CHECK(cell::coupled(h.data(), ones, far, 5) == 16777216.0f + 2 + 2);
}

TEST_CASE("a resistor across an edge drains it, and a circuit's field solves its equation") {
    // f = 1/2, admittance 2, feedback 1: inverse = 1 / (1 + 1 x 2 x 1/2) = 1/2, from E* = 4 with E_old = 2
    const cell::CircuitNumbers<double> resistor{2, 0.5, 1, 0.5, 1, {}, {}, {}};
    cell::CircuitState<double> state{{0, 0}, 2};
    const double field = cell::connected(4.0, 0.0, resistor, state);
    CHECK(field == (4.0 - 1.0 * 2.0 * (0.5 * 2.0)) * 0.5);
    CHECK(field == 4.0 - 1.0 * 2.0 * (0.5 * field + 0.5 * 2.0));  // E = E* - feedback admittance f (E + E_old)
    CHECK(state.field == field);
}
