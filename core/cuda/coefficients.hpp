// The coefficients of one half step as kernels read them: equal blocks of 16 cells are stored once, equal rows share a
// program, an entry a block. Unlike the CPU's palette (core/palette.hpp) it has no runs and no samples held at zero: a
// sample in metal has Cb = 0.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "coefficient_rows.hpp"
#include "driver.hpp"
#include "layout.hpp"
#include "plan.h"

namespace nearfield::cuda {

template <class Real>
class Coefficients {
public:
    // `most`: entries of all programs, and values, at most: kernels count both in 32 bits.
    explicit Coefficients(const Layout& layout, std::size_t most = std::size_t(1) << 32)
        : program_of(layout.rows(), 0), layout_(layout), most_(most) {}

    // Planes [first, last) get the rows of `ca` and `cb`, each (3, nb, nc), C order.
    void set_planes(long first, long last, const Real* ca, const Real* cb) {
        each_coefficient_row(layout_, ca, cb, [&](long j, const Row& a, const Row& b) {
            const std::uint32_t program = intern_row(a, b);
            for (long i = first; i < last; ++i) program_of[layout_.row(i, j)] = program;
        });
    }
    std::size_t distinct_blocks() const { return block_of_.size(); }
    std::size_t bytes() const {
        return (program_of.size() + entries.size()) * sizeof(std::uint32_t) + values.size() * sizeof(Real);
    }

    std::vector<std::uint32_t> program_of, entries;
    std::vector<Real> values;

private:
    using Row = std::vector<Real>;
    std::uint32_t intern_row(const Row& a, const Row& b) {
        const std::string key = bytes_of(a.data(), a.size()) + bytes_of(b.data(), b.size());
        const auto [found, fresh] = program_known_.try_emplace(key, std::uint32_t(entries.size() / layout_.blocks));
        for (long block = 0; fresh && block < layout_.blocks; ++block) entries.push_back(intern_block(a, b, block));
        return found->second;
    }
    std::uint32_t intern_block(const Row& a, const Row& b, long block) {
        std::array<const Real*, 3> stay, drive;
        std::string key;
        bool lossy = false, alike = true;
        for (long n = 0; n < 3; ++n) {
            const long at = lanes * (n * layout_.blocks + block);
            stay[n] = a.data() + at, drive[n] = b.data() + at;
            key += bytes_of(stay[n], lanes) + bytes_of(drive[n], lanes);
            lossy |= std::any_of(stay[n], stay[n] + lanes, [](Real c) { return c != Real(1); });
            alike &= bytes_of(drive[n], lanes - 1) == bytes_of(drive[n] + 1, lanes - 1);
        }
        if (values.size() + 6 * lanes > most_ || entries.size() >= most_)
            throw CardError("it has more distinct coefficients, " + std::to_string(block_of_.size()) +
                            " blocks of 16 cells, than kernels can count");
        const std::uint32_t entry = std::uint32_t(values.size() / lanes) | (lossy   ? entry_is_lossy
                                                                            : alike ? entry_is_alike
                                                                                    : 0);
        const auto [found, fresh] = block_of_.try_emplace(key, entry);
        for (long n = 0; fresh && n < 3; ++n) {
            if (lossy) values.insert(values.end(), stay[n], stay[n] + lanes);
            values.insert(values.end(), drive[n], drive[n] + lanes);
        }
        return found->second;
    }
    Layout layout_;
    const std::size_t most_;
    std::unordered_map<std::string, std::uint32_t> program_known_, block_of_;
};

}  // namespace nearfield::cuda
