// The arrays of one domain: records, psi of the slabs, profiles, palettes. Pages are touched first by the
// thread that will update them.
#pragma once

#include <algorithm>
#include <array>
#include <memory>
#include <vector>

#include "layout.hpp"
#include "machine/pages.hpp"
#include "palette.hpp"

namespace nearfield {

enum class Length : std::uint8_t { unit, scaled, stretched };  // inverse length exactly 1; another; in a CPML

// Along one axis at one half step, one value a sample, padded to whole blocks.
template <class Real>
struct Profile {
    std::vector<Real> inverse;       // u / (kappa length)
    std::vector<Real> decay, drive;  // CPML
    std::vector<Length> length;
};

// What the rows of one half step share, gathered once for a block of steps: where they lie, what they read.
template <class Real>
struct HalfStep {
    struct Axis {
        const Real *inverse, *decay, *drive;
        const Length* length;
    };
    struct Gap {  // cells between the slabs along c, which have no psi
        std::size_t first;
        long length;
    };
    Axis a, b, c;
    Real* updated;                    // first updated component of row (0, 0)
    const Real* read;                 // first component of the other field there
    long field, record, plane, rows;  // lengths; `rows`: of a plane
    const Layout* layout;
    Real *a_psi, *b_psi, *c_psi;  // this half step's part
    Gap c_gap;
    bool unit;  // all lengths along c outside the slabs are units
    const std::uint32_t* program_of;
    const Program* programs;
    const Run* runs;
    const std::uint32_t* places;
    const Held* held;
    const Taken* taken;
    const Real* values;
};

struct Unmap {
    std::size_t bytes = 0;
    void operator()(void* p) const { unmap_pages(p, bytes); }
};
template <class Real>
using Array = std::unique_ptr<Real[], Unmap>;

// Untouched pages, huge ones if they may be and the system gives them.
template <class Real>
Array<Real> allocate(long length, bool huge_pages) {
    const std::size_t bytes = std::max<std::size_t>(1, length * sizeof(Real));
    return Array<Real>(static_cast<Real*>(map_pages(bytes, huge_pages)), Unmap{bytes});
}

template <class Real>
struct Block {
    Layout layout;
    std::array<std::array<Profile<Real>, 3>, 2> profile;  // by half step and axis
    Palette<Real> electric, magnetic;
    Array<Real> records, a_psi, b_psi;

    int parts;  // 1, or 2: real and imaginary, one after the other in each array

    Block(const Layout& l, bool huge_pages, int number)
        : layout(l), electric(l, true), magnetic(l, false),
          records(allocate<Real>(number * l.volume_length, huge_pages)),
          a_psi(allocate<Real>(number * l.a_psi_length(), huge_pages)),
          b_psi(allocate<Real>(number * l.b_psi_length(), huge_pages)), parts(number) {}

    Real* record(int part, long i, long j) { return records.get() + part * layout.volume_length + layout.record(i, j); }
    // Components 6 to 11 are the imaginary parts.
    Real* field(int component, long i, long j) {
        return records.get() + component / 6 * layout.volume_length + layout.field(component % 6, i, j);
    }
    Real* a_psi_of(int part) { return a_psi.get() + part * layout.a_psi_length(); }
    Real* b_psi_of(int part) { return b_psi.get() + part * layout.b_psi_length(); }
    // Each half step keeps two of the four psi of a slab cell: E the first two, H the last two.
    HalfStep<Real> half_step(int half, int part) {
        const Layout& l = layout;
        const auto axis = [&](int n) {
            const Profile<Real>& p = profile[half][n];
            return typename HalfStep<Real>::Axis{p.inverse.data(), p.decay.data(), p.drive.data(), p.length.data()};
        };
        const auto& lengths = profile[half][2].length;
        const long from = std::min<long>(lengths.size(), lanes * l.c_low),
                   to = std::min<long>(lengths.size(), lanes * l.c_high);
        const bool unit = std::all_of(lengths.begin() + from, lengths.begin() + std::max(from, to),
                                      [](Length length) { return length == Length::unit; });
        const Palette<Real>& palette = half ? magnetic : electric;
        const long psi = half * 2 * lanes;
        return {axis(0),
                axis(1),
                axis(2),
                field(6 * part + 3 * half, 0, 0),
                field(6 * part + 3 - 3 * half, 0, 0),
                l.field_length,
                l.record_length,
                l.plane_length,
                l.nb,
                &layout,
                a_psi_of(part) + psi,
                b_psi_of(part) + psi,
                records.get() + part * l.volume_length + l.c_psi(0, 0) + psi,
                {std::size_t(lanes * l.c_high), lanes * (l.c_high - l.c_low)},
                unit,
                palette.row_programs(),
                palette.programs(),
                palette.runs(),
                palette.places(),
                palette.held(),
                palette.taken(),
                palette.values()};
    }
    std::size_t bytes() const {
        const long psi = layout.a_psi_length() + layout.b_psi_length();
        return parts * (layout.volume_length + psi) * sizeof(Real) + electric.bytes() + magnetic.bytes();
    }
};

}  // namespace nearfield
