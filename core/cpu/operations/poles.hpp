// The poles of dispersive media along the rows, those of the three components of a half step together. Over a step
// P_new - P_old = before E_old + now E_new + T (nearfield/media/poles.py). Just before a row's update, with e what it
// holds,
//     E <- stay E - weight sum T,   T advances with e;   then the update adds Cb curl H, with Ca = 1;   H alike,
// so that no field of the step before is kept, and nothing is left to do after the update. Nobody else reads a row
// between these two. States lie only in blocks of 16 cells where the medium is, block by block, (states, 16) in each;
// equal blocks of (stay, weight) are stored once, equal rows share a program of pieces.
#pragma once

#include <algorithm>
#include <string>
#include <unordered_map>
#include <vector>

#include "cpu/fetch.hpp"
#include "cpu/operations.hpp"

namespace nearfield {

template <class Real>
struct PoleMedium {
    long firsts, seconds;       // recursions of first and of second order
    std::vector<Real> numbers;  // k, q of each of the first; then k, rho, q, r of each of the second
    long states() const { return firsts + 2 * seconds; }
};

template <class Real>
class Poles final : public RowOperation<Real> {
public:
    // `component`: the first of the three, 6 more for their imaginary parts, which keep states of their own.
    Poles(int component, const Layout& layout, const std::vector<PoleMedium<Real>>& media, const Rows<Real>& kernels)
        : RowOperation<Real>(component, {{0, layout.na}, {0, layout.nb}}), layout_(layout), media_(media),
          kernels_(kernels), rows_(layout.rows()), programs_(1) {}

    // Rows of planes [first, last): stay and weight of these media, each (media, 3, nb, nc).
    void set_planes(long first, long last, const std::vector<long>& media, const Real* stay, const Real* weight) {
        for (long j = 0; j < layout_.nb; ++j) {
            const std::uint32_t program = make_program(media, stay + j * layout_.nc, weight + j * layout_.nc);
            for (long i = first; i < last; ++i) rows_[layout_.row(i, j)].program = program;
        }
    }
    // Whether there are any rows; they then get their states, all zero.
    bool finish();

    bool precedes() const override { return true; }
    bool acts_on(long number) const override { return rows_[number].program != 0; }
    void apply(Real* row, long number, const Cells& cells, const Step&, const Tables<Real>&) override {
        const Program& program = programs_[rows_[number].program];
        Real* const states = states_.get() + rows_[number].first_state;
        const Real* const old = program.shared ? kept(row, cells) : row;
        for (const Use *use = uses_.data() + program.first, *end = use + program.count; use != end; ++use) {
            const PoleMedium<Real>& medium = media_[use->medium];
            kernels_.poles(row, old, pieces_.data() + use->first, use->count, cells.first / lanes, cells.last / lanes,
                           cells_of_.data(), cells_.data(), states, medium.numbers.data(), medium.firsts,
                           medium.seconds);
        }
    }
    void fetch_ahead(long number, long part, long parts) const override {
        const long states = programs_[rows_[number].program].states;
        fetch(states_.get() + rows_[number].first_state, lanes * states * sizeof(Real), part, parts);
    }
    void begin_block(const Real*, long, long) override { written_ = true; }
    // Pages are left to the threads that will write them first.
    void reset() override {
        if (written_) std::fill_n(states_.get(), length_, Real(0));
    }

    // Calls f(i, j, k, states) for each sample of a component (0 to 2) and medium in a box; its states are `lanes`
    // apart.
    template <class F>
    void visit(int component, long medium, const std::array<Extent, 3>& box, F&& f) {
        written_ = true;
        for (long i = std::max(this->span.a[0], box[0].first); i < std::min(this->span.a[1], box[0].last); ++i)
            for (long j = std::max(this->span.b[0], box[1].first); j < std::min(this->span.b[1], box[1].last); ++j) {
                const Row& row = rows_[layout_.row(i, j)];
                const Program& program = programs_[row.program];
                for (const PolePiece& piece : pieces_of(program, component, medium)) {
                    Real* const states = states_.get() + row.first_state + lanes * piece.state;
                    const long first = std::max<long>(lanes * piece.first, box[2].first),
                               last = std::min<long>(lanes * piece.last, box[2].last);
                    for (long k = first; k < last; ++k) {
                        const long block = k / lanes - piece.first;
                        if (cells_[lanes * (2 * cells_of_[piece.cells + block] + 1) + k % lanes] != 0)
                            f(i, j, k, states + lanes * block * media_[medium].states() + k % lanes);
                    }
                }
            }
    }
    std::size_t bytes() const {
        return (length_ + cells_.size()) * sizeof(Real) + cells_of_.size() * sizeof(std::uint32_t) +
               pieces_.size() * sizeof(PolePiece) + uses_.size() * sizeof(Use) + rows_.size() * sizeof(Row);
    }

private:
    struct Use {  // a medium in a row, and its pieces
        std::uint32_t medium, first, count;
    };
    struct Program {
        std::uint32_t first = 0, count = 0, states = 0;  // uses; in blocks of 16
        bool shared = false;                             // by several media in one block
    };
    struct Row {
        std::size_t first_state = 0;
        std::uint32_t program = 0;
    };

    // The row as it was, for several media that change it in turn.
    const Real* kept(const Real* row, const Cells& cells) const {
        static thread_local std::vector<Real> copy;
        if (long(copy.size()) < 3 * layout_.field_length) copy.resize(3 * layout_.field_length);
        for (long n = 0; n < 3; ++n) {
            const long field = n * layout_.field_length;
            std::copy(row + field + cells.first, row + field + cells.last, copy.data() + field + cells.first);
        }
        return copy.data();
    }
    std::vector<PolePiece> pieces_of(const Program& program, int component, long medium) const {
        std::vector<PolePiece> found;
        for (std::uint32_t n = program.first; n < program.first + program.count; ++n)
            for (std::uint32_t m = 0; long(uses_[n].medium) == medium && m < uses_[n].count; ++m)
                if (const PolePiece& piece = pieces_[uses_[n].first + m];
                    piece.field == component * layout_.field_length)
                    found.push_back(piece);
        return found;
    }
    std::uint32_t make_program(const std::vector<long>& media, const Real* stay, const Real* weight);
    std::uint32_t intern(const Real* stay, const Real* weight, long block);

    Layout layout_;
    const std::vector<PoleMedium<Real>>& media_;
    const Rows<Real>& kernels_;
    std::vector<Row> rows_;
    std::vector<Program> programs_;
    std::vector<Use> uses_;
    std::vector<PolePiece> pieces_;
    std::vector<std::uint32_t> cells_of_;
    std::vector<Real> cells_;  // 16 of stay, 16 of weight
    std::size_t length_ = 0;
    bool written_ = false;
    Array<Real> states_;
    std::unordered_map<std::string, std::uint32_t> block_of_, program_of_;
};

template <class Real>
bool Poles<Real>::finish() {
    for (Row& row : rows_) {
        row.first_state = length_;
        length_ += programs_[row.program].states * lanes;
    }
    if (!length_) return false;
    states_ = allocate<Real>(length_, true);
    return true;
}

// A row's pieces: for each medium and component, the runs of blocks in which it weighs anything.
template <class Real>
std::uint32_t Poles<Real>::make_program(const std::vector<long>& media, const Real* stay, const Real* weight) {
    const auto holds = [&](const Real* row, long block) {
        return std::any_of(row + lanes * block, row + std::min(layout_.nc, lanes * (block + 1)),
                           [](Real w) { return w != 0; });
    };
    std::vector<std::int64_t> key;  // medium, component, block and its numbers, of each block
    std::vector<int> held(3 * layout_.blocks);
    bool shared = false;
    for (std::size_t n = 0; n < media.size(); ++n)
        for (long component = 0; component < 3; ++component) {
            const long at = (3 * n + component) * layout_.nb * layout_.nc;
            for (long block = 0; block < layout_.blocks; ++block) {
                if (!holds(weight + at, block)) continue;
                key.insert(key.end(), {media[n], component, block, intern(stay + at, weight + at, block)});
                shared |= held[component * layout_.blocks + block]++ > 0;
            }
        }
    if (key.empty()) return 0;
    const std::string text(reinterpret_cast<const char*>(key.data()), key.size() * sizeof(key[0]));
    const auto [found, fresh] = program_of_.try_emplace(text, programs_.size());
    if (!fresh) return found->second;
    Program program{static_cast<std::uint32_t>(uses_.size()), 0, 0, shared};
    for (std::size_t n = 0; n < key.size(); n += 4) {
        const auto medium = static_cast<std::uint32_t>(key[n]);
        const auto field = static_cast<std::int32_t>(key[n + 1] * layout_.field_length),
                   block = static_cast<std::int32_t>(key[n + 2]);
        const bool used = program.count && uses_.back().medium == medium;
        if (!used) uses_.push_back({medium, static_cast<std::uint32_t>(pieces_.size()), 0}), ++program.count;
        if (!used || pieces_.back().field != field || pieces_.back().last != block) {
            pieces_.push_back({field, block, block, static_cast<std::uint32_t>(cells_of_.size()), program.states});
            ++uses_.back().count;
        }
        cells_of_.push_back(static_cast<std::uint32_t>(key[n + 3]));
        ++pieces_.back().last;
        program.states += media_[medium].states();
    }
    programs_.push_back(program);
    return found->second;
}

template <class Real>
std::uint32_t Poles<Real>::intern(const Real* stay, const Real* weight, long block) {
    std::array<Real, 2 * lanes> values{};
    const long first = lanes * block, last = std::min(layout_.nc, first + lanes);
    std::copy(stay + first, stay + last, values.begin());
    std::copy(weight + first, weight + last, values.begin() + lanes);
    const std::string key(reinterpret_cast<const char*>(values.data()), sizeof(values));
    const auto [found, fresh] = block_of_.try_emplace(key, static_cast<std::uint32_t>(cells_.size() / values.size()));
    if (fresh) cells_.insert(cells_.end(), values.begin(), values.end());
    return found->second;
}

}  // namespace nearfield
