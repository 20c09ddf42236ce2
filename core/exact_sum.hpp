// A sum of doubles without rounding, so that its terms may be added by any threads, domains and ranks in any order.
// Kulisch's long accumulator: digits of 32 bits, kept in 64, from the smallest denormal to the largest double.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

#include "cell/exact.h"

namespace nearfield {

class ExactSum {
public:
    static constexpr int digits = 68;  // the value is the sum of digit n times 2^(32 n - 1074)

    // Fewer than 2^31 terms.
    void add(double term) {
        const auto bits = std::bit_cast<std::uint64_t>(term);
        if (!cell::is_finite(bits)) {
            ++not_finite_;
            return;
        }
        const cell::ExactTerm exact = cell::exact_term(bits);
        for (int n = 0; n < 3; ++n) digit_[exact.first + n] += exact.digit[n];
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
