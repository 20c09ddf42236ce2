// Coefficient rows as a palette: equal 16-cell blocks are stored once, equal rows share one program of runs.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "layout.hpp"

namespace nearfield {

enum class Kind : std::uint8_t {
    uniform,   // three lane-uniform Cb, Ca = 1 stored as nothing
    lossless,  // 3 x 16 Cb
    lossy,     // 3 x (16 Ca, 16 Cb)
};

struct Run {  // consecutive blocks of a row that share their coefficients
    std::int32_t first, last;
    std::uint32_t offset;  // into the values, in blocks of 16
    Kind kind;
    bool stretched;  // CPML along the row's own axis
};

struct Program {
    std::uint32_t first, count;  // runs
};

template <class Real>
class Palette {
public:
    explicit Palette(const Layout& layout) : layout_(layout), row_program_(layout.rows(), 0) {}

    // Planes [first, last) get the rows of `ca` and `cb`, each (3, nb, nc), C order.
    void set_planes(long first, long last, const Real* ca, const Real* cb);

    const Program& program(long i, long j) const { return programs_[row_program_[layout_.row(i, j)]]; }
    const Run* runs() const { return runs_.data(); }
    const Real* values() const { return values_.data(); }
    std::size_t bytes() const {
        return row_program_.size() * sizeof(std::uint32_t) + values_.size() * sizeof(Real) +
               runs_.size() * sizeof(Run) + programs_.size() * sizeof(Program);
    }
    std::size_t distinct_blocks() const { return block_of_.size(); }

private:
    struct Entry {
        std::uint32_t offset;
        Kind kind;
    };
    Entry intern_block(const Real* ca, const Real* cb);
    std::uint32_t intern_row(const Real* ca, const Real* cb);

    Layout layout_;
    std::vector<std::uint32_t> row_program_;
    std::vector<Program> programs_;
    std::vector<Run> runs_;
    std::vector<Real> values_;
    std::unordered_map<std::string, Entry> block_of_;
    std::unordered_map<std::string, std::uint32_t> program_of_;
};

}  // namespace nearfield
