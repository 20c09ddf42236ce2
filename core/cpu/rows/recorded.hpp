// What recorders and the guard take from a row: sums of squares, running Fourier transforms, copies past the caches.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "cell/fourier.h"
#include "cell/squares.h"
#include "cpu/rows.hpp"
#include "vectors.hpp"

namespace nearfield::NEARFIELD_ISA {

template <class Real>
void energy(const Real* row, long stride, long length, double* sums) {
    for (long k = 0; k < length; k += lanes) {
        double lane_sum[lanes] = {};
        for (int component = 0; component < 6; ++component) {
            const Real* p = row + component * stride + k;
            for (long lane = 0; lane < lanes; ++lane) lane_sum[lane] = cell::plus_square(lane_sum[lane], p[lane]);
        }
        double sum = 0;
        for (double s : lane_sum) sum += s;
        sums[k / lanes] = sum;
    }
}

template <class Real>
void accumulate(Real* sums, long rows, long columns, const Real* left, long left_term, const Real* right,
                long right_term, long terms) {
    for (long r = 0; r < rows; ++r)
        for (long c = 0; c < columns; c += Vector<Real>::width) {
            auto sum = load(sums + r * columns + c);
            for (long n = 0; n < terms; ++n)
                sum = cell::transformed(sum, broadcast(left[n * left_term + r]), load(right + n * right_term + c));
            store(sums + r * columns + c, sum);
        }
}

// A store that does not fetch the line it overwrites.
template <class Real>
inline void store_past_caches(Real* p, typename Vector<Real>::type v) {
#if NEARFIELD_VECTOR_BYTES == 64
    _mm512_stream_si512(reinterpret_cast<__m512i*>(p), __m512i(v));
#elif NEARFIELD_VECTOR_BYTES == 32
    _mm256_stream_si256(reinterpret_cast<__m256i*>(p), __m256i(v));
#elif defined(__SSE2__)
    _mm_stream_si128(reinterpret_cast<__m128i*>(p), __m128i(v));
#else
    store(p, v);
#endif
}

// Reads up to a line past the end, which rows are padded for.
template <class Real>
void send(Real* to, const Real* from, long count, Real unit) {
    constexpr long W = Vector<Real>::width, line = 64 / sizeof(Real);
    const auto scale = broadcast(unit);
    const auto part_of_line = [&](long n, long cells) {
        alignas(64) Real scaled[line];
        for (long k = 0; k < line; k += W) store(scaled + k, load(from + n + k) * scale);
        std::memcpy(to + n, scaled, cells * sizeof(Real));
    };
    const long past = reinterpret_cast<std::uintptr_t>(to) / sizeof(Real) % line;
    long n = std::min(count, (line - past) % line);
    if (n) part_of_line(0, n);
    for (; n + line <= count; n += line)
        for (long k = 0; k < line; k += W) store_past_caches(to + n + k, load(from + n + k) * scale);
    if (n < count) part_of_line(n, count - n);
}

}  // namespace nearfield::NEARFIELD_ISA
