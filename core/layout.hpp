// Where the samples of a domain lie. Storage axes are (a, b, c), c has unit stride.
//
// One record per row (i, j): Ex | Ey | Ez | Hx | Hy | Hz | psi of the c slabs. Each field row is padded to whole
// blocks of 16 cells plus one block before and one behind, all zero; one ghost row of records surrounds the domain.
// The record has no other padding: with separate arrays the rate depends on whether their rows share an offset in a
// page.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

namespace nearfield {

inline constexpr long lanes = 16;  // cells of a block, in both precisions; reductions run in as many lanes

constexpr long padded(long cells) { return (cells + lanes - 1) / lanes * lanes; }  // to whole blocks

struct Slab {
    long low = 0, high = 0;  // CPML planes at either end of an axis
    bool holds(long n, long length) const { return n < low || n >= length - high; }
    long planes() const { return low + high; }
    long index(long n, long length) const { return n < low ? n : n - (length - high) + low; }
};

// Derived lengths are kept, not recomputed: they are asked for in every row.
struct Layout {
    const long na, nb, nc;           // active samples along each axis
    const std::array<Slab, 3> slab;  // CPML thickness along each axis
    const long of_psi = 1;           // elements of a record that one psi of the c slabs takes

    const long blocks = padded(nc) / lanes;
    const long field_length = lanes * (blocks + 2);
    // Blocks [0, c_low) and [c_high, blocks) hold CPML cells of the c axis.
    const long c_low = std::min(blocks, padded(slab[2].low) / lanes);
    const long c_high = std::max(c_low, slab[2].high ? (nc - slab[2].high) / lanes : blocks);
    const long c_psi_blocks = c_low + blocks - c_high;
    const long record_length = 6 * field_length + of_psi * 4 * lanes * c_psi_blocks;
    const long plane_length = record_length * (nb + 2);
    const long volume_length = plane_length * (na + 2);
    const long psi_row = 4 * lanes * blocks;  // psi of one row in an a or b slab: 4 states a cell

    long record(long i, long j) const { return (i + 1) * plane_length + (j + 1) * record_length; }
    long field(int component, long i, long j) const { return record(i, j) + component * field_length + lanes; }
    long c_psi(long i, long j) const { return record(i, j) + 6 * field_length; }
    long a_psi(long i, long j) const { return (slab[0].index(i, na) * nb + j) * psi_row; }
    long b_psi(long i, long j) const { return (i * slab[1].planes() + slab[1].index(j, nb)) * psi_row; }
    long a_psi_length() const { return slab[0].planes() * nb * psi_row; }
    long b_psi_length() const { return slab[1].planes() * na * psi_row; }
    long rows() const { return na * nb; }
    long row(long i, long j) const { return i * nb + j; }
};

}  // namespace nearfield
