// The arrays of one domain: records, psi of the slabs, profiles, palettes. Pages are touched first by the
// thread that will update them.
#pragma once

#include <sys/mman.h>

#include <array>
#include <cstdlib>
#include <memory>
#include <new>
#include <vector>

#include "layout.hpp"
#include "palette.hpp"

namespace nearfield {

template <class Real>
struct Profile {  // along one axis, one value a sample, padded to whole blocks
    std::vector<Real> inverse_dual, inverse_primary;                                 // u / (kappa length)
    std::vector<Real> decay_electric, drive_electric, decay_magnetic, drive_magnetic;  // CPML
    bool unit_dual = false, unit_primary = false;  // inverse lengths are exactly 1 in the blocks outside the slabs
};

struct FreeDeleter {
    void operator()(void* p) const { std::free(p); }
};
template <class Real>
using Array = std::unique_ptr<Real[], FreeDeleter>;

// Uninitialised, aligned to a page so that no two domains share one; huge pages where the system gives them.
template <class Real>
Array<Real> allocate(long length) {
    const std::size_t huge = 2 << 20, bytes = std::max<std::size_t>(1, length * sizeof(Real));
    const std::size_t page = bytes < huge ? 4096 : huge;
    void* p = std::aligned_alloc(page, (bytes + page - 1) / page * page);
    if (!p) throw std::bad_alloc();
#ifdef MADV_HUGEPAGE
    if (page == huge) madvise(p, (bytes + page - 1) / page * page, MADV_HUGEPAGE);  // a hint; may be refused
#endif
    return Array<Real>(static_cast<Real*>(p));
}

template <class Real>
struct Block {
    Layout layout;
    std::array<Profile<Real>, 3> profile;
    Palette<Real> electric, magnetic;
    Array<Real> records, a_psi, b_psi;

    explicit Block(const Layout& l)
        : layout(l), electric(l), magnetic(l), records(allocate<Real>(l.volume_length)),
          a_psi(allocate<Real>(l.slab[0].planes() * l.nb * l.psi_row)),
          b_psi(allocate<Real>(l.slab[1].planes() * l.na * l.psi_row)) {}

    Real* field(int component, long i, long j) { return records.get() + layout.field(component, i, j); }
    std::size_t bytes() const {
        const long psi = (layout.slab[0].planes() * layout.nb + layout.slab[1].planes() * layout.na) * layout.psi_row;
        return (layout.volume_length + psi) * sizeof(Real) + electric.bytes() + magnetic.bytes();
    }
};

}  // namespace nearfield
