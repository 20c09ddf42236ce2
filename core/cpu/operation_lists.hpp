// The row operations of an engine: which of them act in which row, and when. Rows with the same operations share a
// list.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "amounts.hpp"
#include "block.hpp"
#include "operations.hpp"
#include "operations/incident.hpp"

namespace nearfield {

template <class Real>
class OperationLists {
public:
    // They run in the order in which they were added, in every row.
    void add(std::unique_ptr<RowOperation<Real>> operation) { own(std::move(operation), nullptr); }
    // Of an incident wave, single samples may be left to the rows' programs.
    void add_wave(std::unique_ptr<Incident<Real>> wave) {
        auto* const known = wave.get();
        own(std::move(wave), known);
    }

    // Lists the operations of every row, where any was added since.
    void arrange(Block<Real>& block);
    // Before steps [first, first + steps).
    void begin_block(Block<Real>& block, long first, long steps, const Tables<Real>& tables);
    // So many steps may be under way in a row at once.
    void expect(long steps);
    // Rows may have been written since.
    void refresh(Block<Real>& block);
    void reset();

    // What acts in a part of row (i, j) before and after its update.
    __attribute__((always_inline)) inline void precede(int half, Block<Real>& block, long i, long j, const Blocks& part,
                                                       const Step& step) const {
        if (!halves_[half].preceding.empty()) apply(halves_[half].preceding, block, i, j, part, step);
    }
    __attribute__((always_inline)) inline void follow(int half, Block<Real>& block, long i, long j, const Blocks& part,
                                                      const Step& step) const {
        if (!halves_[half].following.empty()) apply(halves_[half].following, block, i, j, part, step);
    }
    // Inlined always: see fetch.hpp.
    __attribute__((always_inline)) inline void fetch_ahead(long row, long i, long j, long part, long parts) const {
        for (const Half& half : halves_) {
            if (half.preceding.empty()) continue;
            const Group& group = groups_[half.preceding[row]];
            for (const Listed *listed = lists_.data() + group.first, *end = listed + group.count; listed != end;
                 ++listed)
                listed->operation->fetch_ahead(listed->number(i, j), part, parts);
        }
    }

    // What rows' programs take besides.
    Amounts<Real>& amounts(int half) { return halves_[half].amounts; }
    long reach() const { return reach_; }  // the farthest of an operation
    std::size_t bytes() const { return owned_.size() * (sizeof(RowOperation<Real>) + sizeof(void*)); }

private:
    struct Owned {
        std::unique_ptr<RowOperation<Real>> operation;
        Incident<Real>* wave;  // null: it is none
    };
    struct Listed {  // an operation; where its component begins, from a row's record on; how its span counts rows
        RowOperation<Real>* operation;
        long component, rows, first;
        long number(long i, long j) const { return i * rows + j - first; }
    };
    struct Group {  // of rows with the same operations: these, within lists_, and their strides as bits
        std::uint32_t first = 0, count = 0, strides = 0;
    };
    struct Half {
        std::vector<std::uint32_t> preceding, following;  // the group of each row; empty where there are none at all
        Amounts<Real> amounts;
    };
    using Listing = std::vector<std::uint32_t>;  // of a row, as numbers of what is owned
    static constexpr std::size_t always = 31;    // the bit of strides that found no bit of their own

    void own(std::unique_ptr<RowOperation<Real>> operation, Incident<Real>* wave) {
        reach_ = std::max(reach_, operation->reach());
        owned_.push_back({std::move(operation), wave});
    }
    bool collect(const Layout& layout, int half, bool preceding, std::vector<Listing>& of_row) const;
    void take_singles(Block<Real>& block, int half, std::vector<Listing>& of_row);
    Group list(Block<Real>& block, const Listing& wanted);
    __attribute__((always_inline)) inline void apply(const std::vector<std::uint32_t>& group_of, Block<Real>& block,
                                                     long i, long j, const Blocks& part, const Step& step) const {
        const std::uint32_t group = group_of[block.layout.row(i, j)];
        if (!group) return;
        const Group& row = groups_[group];
        if (!(row.strides & due_[step.in_block])) return;
        const Cells cells = part.cells();
        Real* const record = block.record(0, i, j);
        for (const Listed *listed = lists_.data() + row.first, *end = listed + row.count; listed != end; ++listed)
            listed->operation->apply(record + listed->component, listed->number(i, j), cells, step, tables_);
    }

    // Set when operations are added.
    std::vector<Owned> owned_;
    long reach_ = 1;
    // Set by `arrange`.
    std::size_t arranged_ = 0;   // how many operations the lists know
    std::vector<Listed> lists_;  // in the order in which they were added
    std::vector<Group> groups_;  // the first has none
    std::array<Half, 2> halves_;
    std::vector<long> strides_;  // the distinct ones, at most as many as bits; the last bit is always due
    // Set by `begin_block`.
    std::vector<std::uint32_t> due_;  // which strides act in each step of the block
    Tables<Real> tables_;
};

}  // namespace nearfield
