// A sum of doubles without rounding, so that its terms may be added by any threads, domains and ranks in any order.
// Kulisch's long accumulator: digits of 32 bits, kept in 64, from the smallest denormal to the largest double.
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>

namespace nearfield {

class ExactSum {
public:
    static constexpr int digits = 68;  // the value is the sum of digit n times 2^(32 n - 1074)

    // Fewer than 2^31 terms.
    void add(double term) {
        if (!std::isfinite(term)) {
            ++not_finite_;
            return;
        }
        const auto bits = std::bit_cast<std::uint64_t>(term);
        const std::uint64_t exponent = bits >> 52 & 0x7ff, fraction = bits & 0xfffffffffffffull;
        const std::uint64_t at = exponent ? exponent - 1 : 0;
        const auto value = static_cast<unsigned __int128>(exponent ? fraction | 1ull << 52 : fraction) << at % 32;
        const std::int64_t sign = bits >> 63 ? -1 : 1;
        for (int n = 0; n < 3; ++n) digit_[at / 32 + n] += sign * std::int64_t(std::uint32_t(value >> 32 * n));
    }
    void add(const ExactSum& other) {
        for (int n = 0; n < digits; ++n) digit_[n] += other.digit_[n];
        not_finite_ += other.not_finite_;
    }
    // Every digit but the last below 2^32, so that sums of many ranks can be added up digit by digit.
    void carry() {
        for (int n = 0; n + 1 < digits; ++n) {
            digit_[n + 1] += digit_[n] >> 32;
            digit_[n] &= 0xffffffff;
        }
    }
    const std::array<std::int64_t, digits>& digit() const { return digit_; }
    std::int64_t not_finite() const { return not_finite_; }  // terms that were infinite or no numbers

private:
    std::array<std::int64_t, digits> digit_{};
    std::int64_t not_finite_ = 0;
};

}  // namespace nearfield
