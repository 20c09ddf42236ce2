// The coefficients of one half step as kernels read them: equal blocks of 16 cells are stored once, equal rows share a
// program, an entry a block. Unlike the CPU's palette (core/palette.hpp) it has no runs and no samples held at zero: a
// sample in metal has Cb = 0.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "layout.hpp"

namespace nearfield::cuda {

template <class Real>
class Coefficients {
public:
    explicit Coefficients(const Layout& layout) : layout_(layout), program_of(layout.rows(), 0) {}

    // Planes [first, last) get the rows of `ca` and `cb`, each (3, nb, nc), C order.
    void set_planes(long first, long last, const Real* ca, const Real* cb) {
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
            const std::uint32_t program = intern_row(a, b);
            for (long i = first; i < last; ++i) program_of[layout_.row(i, j)] = program;
        }
    }
    std::size_t distinct_blocks() const { return block_of_.size(); }

private:
    Layout layout_;

public:
    std::vector<std::uint32_t> program_of, entries;
    std::vector<Real> values;

private:
    using Row = std::vector<Real>;
    static std::string bytes_of(const Real* numbers, long count) {
        return std::string(reinterpret_cast<const char*>(numbers), count * sizeof(Real));
    }
    std::uint32_t intern_row(const Row& a, const Row& b) {
        const std::string key = bytes_of(a.data(), a.size()) + bytes_of(b.data(), b.size());
        const auto [found, fresh] = program_known_.try_emplace(key, std::uint32_t(entries.size() / layout_.blocks));
        for (long block = 0; fresh && block < layout_.blocks; ++block) entries.push_back(intern_block(a, b, block));
        return found->second;
    }
    std::uint32_t intern_block(const Row& a, const Row& b, long block) {
        const long length = lanes * layout_.blocks;
        std::string key;
        bool lossy = false;
        for (long n = 0; n < 3; ++n) {
            const Real *const stay = a.data() + n * length + lanes * block, *const drive =
                                                                                b.data() + n * length + lanes * block;
            key += bytes_of(stay, lanes) + bytes_of(drive, lanes);
            lossy |= std::any_of(stay, stay + lanes, [](Real c) { return c != Real(1); });
        }
        const std::uint32_t entry = std::uint32_t(values.size() / lanes) | (lossy ? 1u << 31 : 0);
        const auto [found, fresh] = block_of_.try_emplace(key, entry);
        for (long n = 0; fresh && n < 3; ++n) {
            const Real *const stay = a.data() + n * length + lanes * block, *const drive =
                                                                                b.data() + n * length + lanes * block;
            if (lossy) values.insert(values.end(), stay, stay + lanes);
            values.insert(values.end(), drive, drive + lanes);
        }
        return found->second;
    }
    std::unordered_map<std::string, std::uint32_t> program_known_, block_of_;
};

}  // namespace nearfield::cuda
