// Coefficient rows as a palette: equal 16-cell blocks are stored once, equal rows share one program of runs.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "layout.hpp"

namespace nearfield {

enum class Kind : std::uint8_t {
    uniform,   // three lane-uniform Cb, Ca = 1 stored as nothing, of all its blocks
    lossless,  // 3 x 16 Cb
    lossy,     // 3 x (16 Ca, 16 Cb)
};

struct Run {  // consecutive blocks of a row
    std::int32_t first, last;
    std::uint32_t
        offset;  // of the coefficients of a uniform run, in blocks of 16; else of its blocks' entries in `places`
    Kind kind;
    bool stretched;  // CPML along the row's own axis
};

struct Held {  // samples [first, last) of one component that stay zero whatever the run says: metal, walls
    std::int32_t component, first, last;
};

struct Taken {  // a sample that takes an amount from outside after the update: single ones of an incident wave
    std::int32_t at, block;  // from the first of the three components on; of 16 cells
    std::uint32_t amount;    // place of it among those that the row is updated with
};

struct Program {
    std::uint32_t first = 0, count = 0;  // runs
    std::uint32_t held_first = 0,
                  held_count = 0;  // written after the update, where that is less work than further runs
    std::uint32_t taken_first = 0, taken_count = 0;
};

template <class Real>
class Palette {
public:
    Palette(const Layout& layout, bool electric)
        : layout_(layout), electric_(electric), row_program_(layout.rows(), 0) {}

    // Planes [first, last) get the rows of `ca` and `cb`, each (3, nb, nc), C order.
    void set_planes(long first, long last, const Real* ca, const Real* cb);
    // What a row takes besides; `forget_taken`: no row takes anything.
    void set_taken(long row, const std::vector<Taken>& taken);
    void forget_taken();

    const std::uint32_t* row_programs() const { return row_program_.data(); }  // by row, an index into the programs
    const Program* programs() const { return programs_.data(); }
    const Run* runs() const { return runs_.data(); }
    const Held* held() const { return held_.data(); }
    const std::uint32_t* places() const { return places_.data(); }  // into the values, in blocks of 16
    const Taken* taken() const { return taken_.data(); }
    const Real* values() const { return values_.data(); }
    std::size_t bytes() const {
        return row_program_.size() * sizeof(std::uint32_t) + values_.size() * sizeof(Real) +
               runs_.size() * sizeof(Run) + places_.size() * sizeof(std::uint32_t) + held_.size() * sizeof(Held) +
               taken_.size() * sizeof(Taken) + programs_.size() * sizeof(Program);
    }
    std::size_t distinct_blocks() const { return block_of_.size(); }

private:
    struct Entry {
        std::uint32_t offset;
        Kind kind;
    };
    using Drive = std::array<Real, 3>;
    using Row = const std::vector<Real>&;  // three rows of whole blocks, component by component
    Entry intern_block(const Real* ca, const Real* cb);
    std::uint32_t intern_row(Row ca, Row cb);
    bool is_stretched(long block) const { return block < layout_.c_low || block >= layout_.c_high; }
    bool make_uniform(Row ca, Row cb, Program& program);
    void make_runs(Row ca, Row cb, Program& program);
    bool hold_zeros(long block, Row ca, Row cb, Drive& drive) const;
    void add_held(const Run& run, const Drive& drive, Row cb, Program& program);

    Layout layout_;
    bool electric_;
    std::vector<std::uint32_t> row_program_;
    std::vector<Program> programs_;
    std::vector<Run> runs_;
    std::vector<std::uint32_t> places_;
    std::vector<Held> held_;
    std::vector<Taken> taken_;
    std::vector<Real> values_;
    std::vector<std::uint32_t> plain_;  // by program: the one without what is taken
    std::unordered_map<std::string, Entry> block_of_;
    std::unordered_map<std::string, std::uint32_t> program_of_, taking_;
};

}  // namespace nearfield
