// Rows of coefficients of a plane as palettes and kernels store them: whole blocks of 16 cells.
#pragma once

#include <string>
#include <vector>

#include "layout.hpp"

namespace nearfield {

// Numbers as a key of a table: equal where all their bits are.
template <class T>
std::string bytes_of(const T* numbers, long count) {
    return std::string(reinterpret_cast<const char*>(numbers), count * sizeof(T));
}

// Calls f(j, a, b) with Ca and Cb of the three components of each row of a plane; `ca`, `cb`: (3, nb, nc), C order.
template <class Real, class F>
void each_coefficient_row(const Layout& layout, const Real* ca, const Real* cb, F&& f) {
    const long length = lanes * layout.blocks;
    std::vector<Real> a(3 * length, Real(1)), b(3 * length, Real(0));  // lanes past the row never change
    for (long j = 0; j < layout.nb; ++j) {
        for (int component = 0; component < 3; ++component) {
            const long source = (component * layout.nb + j) * layout.nc;
            for (long k = 0; k < layout.nc; ++k) {
                const Real drive = cb[source + k];
                b[component * length + k] = drive;
                // A sample in metal is zero and stays so: Ca = 1 keeps its block lossless.
                a[component * length + k] = drive == Real(0) ? Real(1) : ca[source + k];
            }
        }
        f(j, a, b);
    }
}

}  // namespace nearfield
