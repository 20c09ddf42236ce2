// Sums without rounding (core/exact_sum.hpp).
#include "exact_sum.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <random>
#include <vector>

using nearfield::ExactSum;

namespace {

ExactSum sum_of(const std::vector<double>& terms) {
    ExactSum sum;
    for (const double term : terms) sum.add(term);
    sum.carry();
    return sum;
}

// The sum times 2^1074, of terms so small that it fits: digits 0 to 2.
__int128 small_value(const ExactSum& sum) {
    __int128 value = 0;
    for (int n = 2; n >= 0; --n) value = value * (__int128(1) << 32) + sum.digit()[n];
    return value;
}

// Doubles of all magnitudes, both signs, denormals among them.
std::vector<double> terms_of_all_sizes(std::size_t count) {
    std::mt19937_64 random(1);
    std::vector<double> terms;
    while (terms.size() < count) {
        const double term = std::bit_cast<double>(random());
        if (std::isfinite(term)) terms.push_back(term);
    }
    return terms;
}

}  // namespace

TEST_CASE("an exact sum does not depend on the order of its terms") {
    std::vector<double> terms = terms_of_all_sizes(2000);
    const ExactSum forward = sum_of(terms);
    std::mt19937_64 random(2);
    for (int round = 0; round < 5; ++round) {
        std::shuffle(terms.begin(), terms.end(), random);
        CHECK(sum_of(terms).digit() == forward.digit());
    }
}

TEST_CASE("an exact sum does not depend on which thread adds which term") {
    const std::vector<double> terms = terms_of_all_sizes(999);
    ExactSum parts[3], all;
    for (std::size_t n = 0; n < terms.size(); ++n) parts[n * n % 3].add(terms[n]);
    for (const ExactSum& part : parts) all.add(part);
    all.carry();
    CHECK(all.digit() == sum_of(terms).digit());
}

TEST_CASE("a small term survives two large ones that cancel") {
    const double large = std::numeric_limits<double>::max(), small = std::numeric_limits<double>::denorm_min();
    CHECK(sum_of({large, 1.0, -large}).digit() == sum_of({1.0}).digit());
    CHECK(sum_of({small, large, -large}).digit() == sum_of({small}).digit());
    CHECK(sum_of({large, small, -large, -small}).digit() == ExactSum().digit());
}

TEST_CASE("an exact sum is that of integers") {
    // multiples of the smallest denormal below 2^60: as integers their sum needs 70 bits, and no rounding
    std::mt19937_64 random(3);
    ExactSum sum;
    __int128 wanted = 0;
    for (int n = 0; n < 1000; ++n) {
        const auto mantissa = std::int64_t(random() >> 12);  // below 2^52
        const int shift = int(random() % 8), sign = random() & 1 ? 1 : -1;
        sum.add(std::ldexp(double(sign * mantissa), shift - 1074));
        wanted += sign * (__int128(mantissa) << shift);
    }
    ExactSum shifted = sum;  // a negative total would borrow from the highest digit: lift it by 2^80 quanta
    shifted.add(std::ldexp(1.0, 80 - 1074));
    shifted.carry();
    CHECK(small_value(shifted) == wanted + (__int128(1) << 80));
}

TEST_CASE("a carried sum has digits below 2^32 but for the last") {
    const ExactSum sum = sum_of(terms_of_all_sizes(500));
    for (int n = 0; n + 1 < ExactSum::digits; ++n) {
        CHECK(sum.digit()[n] >= 0);
        CHECK(sum.digit()[n] < std::int64_t(1) << 32);
    }
}

TEST_CASE("terms that are not finite are counted and add nothing") {
    const double infinite = std::numeric_limits<double>::infinity(), none = std::numeric_limits<double>::quiet_NaN();
    const ExactSum sum = sum_of({1.0, infinite, none, -infinite, 2.0});
    CHECK(sum.not_finite() == 3);
    CHECK(sum.digit() == sum_of({3.0}).digit());
}
