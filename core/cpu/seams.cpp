#include "seams.hpp"

#include <algorithm>

#include "cell/turn.h"
#include "team.hpp"

namespace nearfield {

// Where E reaches two rows, H goes both ways, whole and round corners: along c first, then a, then b.
template <class Real>
void SeamCopies<Real>::carry(int half, long i, long j, const Blocks& part, long reach) {
    const bool far = half && reach > 1;
    if (seams_[2].closed) carry_in_row(half, i, j, reach);
    const Layout& l = block_.layout;
    const long ends = reach > 1 && seams_[2].closed;  // rows have copies at their ends, too
    const long first = lanes * part.first - ends, end = std::min(lanes * part.last, l.nc) + ends;
    std::array<std::array<long, 2>, 9> rows{{{i, j}}};  // the original and its copies
    std::size_t count = 1;
    for (int axis = 0; axis < 2; ++axis) {
        if (!seams_[axis].closed) continue;
        const long last = (axis ? l.nb : l.na) - 1, at = axis ? j : i;
        const auto copy = [&](std::size_t n, long to, double direction) {
            auto& row = rows[count++] = rows[n];
            row[axis] = to;
            for (int c = 0; c < 3; ++c)
                if (far || c != axis) copy_turned(3 * half + c, rows[n], row, first, end, seams_[axis], direction);
        };
        for (std::size_t n = 0, known = far ? count : 1; n < known; ++n) {
            if (half && at == last) copy(n, -1, 1);
            if ((far || !half) && at == 0) copy(n, last + 1, -1);
        }
    }
}

template <class Real>
void SeamCopies<Real>::copy_turned(int component, const std::array<long, 2>& from, const std::array<long, 2>& to,
                                   long first, long last, const Seam& seam, double direction) {
    const Real* const re = block_.field(component, from[0], from[1]);
    Real* const to_re = block_.field(component, to[0], to[1]);
    if (block_.parts == 1) {
        std::copy(re + first, re + last, to_re + first);
        return;
    }
    const Real cosine = Real(seam.cosine), sine = Real(direction * seam.sine);
    const Real* const im = block_.field(component + 6, from[0], from[1]);
    Real* const to_im = block_.field(component + 6, to[0], to[1]);
    for (long k = first; k < last; ++k) {
        to_re[k] = cell::turned_real(re[k], im[k], cosine, sine);
        to_im[k] = cell::turned_imaginary(re[k], im[k], cosine, sine);
    }
}

template <class Real>
void SeamCopies<Real>::carry_in_row(int half, long i, long j, long reach) {
    const bool far = half && reach > 1;
    const long last = block_.layout.nc - 1;
    const Real cosine = Real(seams_[2].cosine);
    const auto copy = [&](long from, long to, double direction) {
        const Real sine = Real(direction * seams_[2].sine);
        for (int c = 0; c < (far ? 3 : 2); ++c) {
            Real* const re = block_.field(3 * half + c, i, j);
            if (block_.parts == 1) {
                re[to] = re[from];
                continue;
            }
            Real* const im = re + block_.layout.volume_length;
            re[to] = cell::turned_real(re[from], im[from], cosine, sine);
            im[to] = cell::turned_imaginary(re[from], im[from], cosine, sine);
        }
    };
    if (half) copy(last, -1, 1);
    if (far || !half) copy(0, last + 1, -1);
}

template <class Real>
void SeamCopies<Real>::carry_all(const std::array<Extent, 3>& own, bool halos_only, long reach) {
    const FlushedDenormals flushed;
    halos_only &= seams_[2].gap < 0;  // else every row has a halo
    const Blocks whole{0, block_.layout.blocks};
    for (long i = 0; i < block_.layout.na; ++i)
        for (long j = 0; j < block_.layout.nb; ++j) {
            if (halos_only && own[0].holds(i) && own[1].holds(j)) continue;
            for (int half = 0; half < 2; ++half) carry(half, i, j, whole, reach);
        }
}

template class SeamCopies<float>;
template class SeamCopies<double>;

}  // namespace nearfield
