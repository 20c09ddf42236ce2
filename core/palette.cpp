#include "palette.hpp"

#include <algorithm>
#include <cstring>

namespace nearfield {

template <class Real>
auto Palette<Real>::intern_block(const Real* ca, const Real* cb) -> Entry {
    const std::string key = std::string(reinterpret_cast<const char*>(ca), 3 * lanes * sizeof(Real)) +
                            std::string(reinterpret_cast<const char*>(cb), 3 * lanes * sizeof(Real));
    if (auto found = block_of_.find(key); found != block_of_.end()) return found->second;
    const bool lossless = std::all_of(ca, ca + 3 * lanes, [](Real c) { return c == Real(1); });
    bool uniform = lossless;
    for (int component = 0; component < 3 && uniform; ++component) {
        const Real* row = cb + component * lanes;
        uniform = std::all_of(row, row + lanes, [row](Real c) { return c == row[0]; });
    }
    const Entry entry{static_cast<std::uint32_t>(values_.size() / lanes),
                      uniform ? Kind::uniform : lossless ? Kind::lossless : Kind::lossy};
    for (int component = 0; component < 3; ++component) {
        if (entry.kind == Kind::lossy) values_.insert(values_.end(), ca + component * lanes, ca + (component + 1) * lanes);
        values_.insert(values_.end(), cb + component * lanes, cb + (component + 1) * lanes);
    }
    block_of_.emplace(key, entry);
    return entry;
}

// `ca`, `cb`: three rows of whole blocks each, component by component.
template <class Real>
std::uint32_t Palette<Real>::intern_row(const Real* ca, const Real* cb) {
    const long blocks = layout_.blocks, length = lanes * blocks;
    const std::string key = std::string(reinterpret_cast<const char*>(ca), 3 * length * sizeof(Real)) +
                            std::string(reinterpret_cast<const char*>(cb), 3 * length * sizeof(Real));
    if (auto found = program_of_.find(key); found != program_of_.end()) return found->second;
    Program program{static_cast<std::uint32_t>(runs_.size()), 0};
    for (long block = 0; block < blocks; ++block) {
        Real a[3 * lanes], b[3 * lanes];
        for (int component = 0; component < 3; ++component) {
            std::memcpy(a + component * lanes, ca + component * length + block * lanes, lanes * sizeof(Real));
            std::memcpy(b + component * lanes, cb + component * length + block * lanes, lanes * sizeof(Real));
        }
        const Entry entry = intern_block(a, b);
        const bool stretched = block < layout_.c_low || block >= layout_.c_high;
        if (program.count && runs_.back().offset == entry.offset && runs_.back().stretched == stretched) {
            runs_.back().last = static_cast<std::int32_t>(block + 1);
        } else {
            const auto n = static_cast<std::int32_t>(block);
            runs_.push_back({n, n + 1, entry.offset, entry.kind, stretched});
            ++program.count;
        }
    }
    programs_.push_back(program);
    const auto id = static_cast<std::uint32_t>(programs_.size() - 1);
    program_of_.emplace(key, id);
    return id;
}

template <class Real>
void Palette<Real>::set_planes(long first, long last, const Real* ca, const Real* cb) {
    const long length = lanes * layout_.blocks;
    std::vector<Real> a(3 * length, Real(1)), b(3 * length, Real(0));  // lanes past the row never change
    for (long j = 0; j < layout_.nb; ++j) {
        for (int component = 0; component < 3; ++component) {
            const long source = (component * layout_.nb + j) * layout_.nc;
            for (long k = 0; k < layout_.nc; ++k) {
                const Real drive = cb[source + k];
                b[component * length + k] = drive;
                // A sample in metal is zero and stays so: Ca = 1 keeps its block lossless.
                a[component * length + k] = drive == Real(0) ? Real(1) : ca[source + k];
            }
        }
        const std::uint32_t id = intern_row(a.data(), b.data());
        for (long i = first; i < last; ++i) row_program_[layout_.row(i, j)] = id;
    }
}

template class Palette<float>;
template class Palette<double>;

}  // namespace nearfield
