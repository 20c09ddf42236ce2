#include "squares.hpp"

#include <algorithm>
#include <vector>

#include "cell/squares.h"

namespace nearfield {

template <class Real>
void Squares<Real>::add_row(long i, long j, ExactSum& sum) {
    if (!own_[0].holds(i) || !own_[1].holds(j)) return;
    for (int part = 0; part < block_.parts; ++part) add_row(part, i, j, sum);
}

// A row's own cells, block by block of 16.
template <class Real>
void Squares<Real>::add_row(int part, long i, long j, ExactSum& sum) {
    constexpr long most = 64;  // blocks at a time
    const Layout& l = block_.layout;
    double sums[most];
    const long end = (row_closes_ ? own_[2].last : padded(own_[2].last)) / lanes;
    for (long first = own_[2].first / lanes; first < end; first += most) {
        const long count = std::min(most, end - first);
        rows_.energy(block_.field(6 * part, i, j) + lanes * first, l.field_length, lanes * count, sums);
        for (long n = 0; n < count; ++n) sum.add(sums[n]);
    }
    if (row_closes_ && own_[2].last % lanes) sum.add(own_squares(part, i, j, end));
}

// The sum over a last block, without the copy of the first cell that follows a closed row.
template <class Real>
double Squares<Real>::own_squares(int part, long i, long j, long block) {
    Real cells[6 * lanes] = {};
    double sum;
    for (int component = 0; component < 6; ++component)
        std::copy(block_.field(6 * part + component, i, j) + lanes * block,
                  block_.field(6 * part + component, i, j) + block_.layout.nc, cells + component * lanes);
    rows_.energy(cells, lanes, lanes, &sum);
    return sum;
}

// The same sum where the blocks of 16 cells lie across the rows: lane after lane is a row, and a vector many blocks.
// Components count from the axis of the blocks on, as in rows that lie along it.
template <class Real>
void Squares<Real>::add_across(long thread, long threads, ExactSum& exact) {
    const Layout& l = block_.layout;
    const int along = along_, across = 1 - along;
    std::vector<double> lane(l.nc), sum(l.nc);
    const long blocks = (own_[along].last - own_[along].first + lanes - 1) / lanes;
    const long count = blocks * (own_[across].last - own_[across].first);
    for (long n = count * thread / threads; n < count * (thread + 1) / threads; ++n) {
        const long first = own_[along].first + n % blocks * lanes, other = own_[across].first + n / blocks;
        for (int part = 0; part < block_.parts; ++part) {
            std::fill(sum.begin(), sum.end(), 0.0);
            for (long m = first; m < std::min(first + lanes, own_[along].last); ++m) {
                std::fill(lane.begin(), lane.end(), 0.0);
                for (int component = 0; component < 6; ++component) {
                    const int stored = 6 * part + component / 3 * 3 + (component + along + 1) % 3;
                    const Real* const row = block_.field(stored, along ? other : m, along ? m : other);
                    for (long k = 0; k < l.nc; ++k) lane[k] = cell::plus_square(lane[k], row[k]);
                }
                for (long k = 0; k < l.nc; ++k) sum[k] += lane[k];
            }
            for (long k = own_[2].first; k < own_[2].last; ++k) exact.add(sum[k]);
        }
    }
}

template <class Real>
void Squares<Real>::collect(const ExactSum& sum) {
    if (!wanted_) return;
    const std::lock_guard lock(mutex_);
    sum_.add(sum);
}

template <class Real>
void Squares<Real>::end(Team& team) {
    if (wanted_ && along_ != 2)
        team.run(
            [&](long thread) {
                ExactSum sum;
                add_across(thread, team.size(), sum);
                collect(sum);
            },
            [] {});
    sum_.carry();
}

template class Squares<float>;
template class Squares<double>;

}  // namespace nearfield
