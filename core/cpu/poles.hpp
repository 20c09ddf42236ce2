// The poles of dispersive media along the rows of one component. Over a step P_new - P_old = before E_old + now E_new + T
// (nearfield/poles.py); the first two terms are in the update's Ca and Cb, T is what the poles remember:
//     before a row's update    drop = weight sum T,  and T advances with the field that the row still holds,
//     after it                 E <- E - drop,        weight = Cb times the medium's part of the sample; H alike.
// So no field of the step before is kept. States lie only in blocks of 16 cells where the medium is, block by block,
// (states, 16) in each; equal blocks of weights are stored once, equal rows share a program of pieces.
#pragma once

#include <algorithm>
#include <string>
#include <unordered_map>
#include <vector>

#include "operations.hpp"

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
    Poles(int component, const Layout& layout, const std::vector<PoleMedium<Real>>& media, const Rows<Real>& kernels)
        : RowOperation<Real>(component, {{0, layout.na}, {0, layout.nb}}), layout_(layout), media_(media), kernels_(kernels),
          row_program_(layout.rows(), 0), programs_(1) {}

    // Rows of planes [first, last): `weights` (nb, nc) of each of these media, `stride` apart.
    void set_planes(long first, long last, const std::vector<long>& media, const Real* weights, long stride) {
        for (long j = 0; j < layout_.nb; ++j) {
            const std::uint32_t program = make_program(media, weights + j * layout_.nc, stride);
            for (long i = first; i < last; ++i) row_program_[layout_.row(i, j)] = program;
        }
    }
    // Whether there are any rows; they then get their states, all zero, and the operation its span.
    bool finish() {
        RowSpan span{{layout_.na, 0}, {layout_.nb, 0}};
        first_state_.assign(layout_.rows(), 0);
        for (long i = 0; i < layout_.na; ++i)
            for (long j = 0; j < layout_.nb; ++j) {
                const Program& program = programs_[row_program_[layout_.row(i, j)]];
                first_state_[layout_.row(i, j)] = length_;
                length_ += program.states * lanes;
                if (!program.count) continue;
                span.a = {std::min(span.a[0], i), std::max(span.a[1], i + 1)};
                span.b = {std::min(span.b[0], j), std::max(span.b[1], j + 1)};
            }
        if (!length_) return false;
        this->span = span;
        states_ = allocate<Real>(length_, true);
        return true;
    }

    bool precedes() const override { return true; }
    void before(const Real* row, long number, const Cells& cells) override {
        Real* const drop = scratch();
        const long at = place(number);
        const Program& program = programs_[row_program_[at]];
        for (const Piece *piece = pieces_.data() + program.first, *end = piece + program.count; piece != end; ++piece) {
            const long first = std::max<long>(piece->first, cells.first / lanes), last = std::min<long>(piece->last, cells.last / lanes);
            if (first >= last) continue;
            const PoleMedium<Real>& medium = media_[piece->medium];
            const long skipped = first - piece->first;
            kernels_.poles(drop + lanes * (piece->drop + skipped), row + lanes * first, weight_of_.data() + piece->weight + skipped,
                           weights_.data(), states_.get() + first_state_[at] + lanes * (piece->state + skipped * medium.states()),
                           medium.numbers.data(), medium.firsts, medium.seconds, last - first);
        }
    }
    void apply(Real* row, long number, const Cells& cells, const Step&, const Tables<Real>&) override {
        const Real* const drop = scratch();
        const Program& program = programs_[row_program_[place(number)]];
        for (const Piece *piece = pieces_.data() + program.first, *end = piece + program.count; piece != end; ++piece) {
            const long first = std::max<long>(piece->first, cells.first / lanes), last = std::min<long>(piece->last, cells.last / lanes);
            if (first < last)
                kernels_.subtract(row + lanes * first, drop + lanes * (piece->drop + first - piece->first), lanes * (last - first));
        }
    }
    void reset() override { std::fill_n(states_.get(), length_, Real(0)); }

    // Calls f(i, j, k, states) for each cell of a medium in a box; its states are `lanes` apart.
    template <class F>
    void visit(long medium, const std::array<Extent, 3>& box, F&& f) {
        for (long i = std::max(this->span.a[0], box[0].first); i < std::min(this->span.a[1], box[0].last); ++i)
            for (long j = std::max(this->span.b[0], box[1].first); j < std::min(this->span.b[1], box[1].last); ++j) {
                const long at = layout_.row(i, j);
                const Program& program = programs_[row_program_[at]];
                for (std::uint32_t n = program.first; n < program.first + program.count; ++n) {
                    const Piece& piece = pieces_[n];
                    if (piece.medium != medium) continue;
                    Real* const states = states_.get() + first_state_[at] + lanes * piece.state;
                    const long first = std::max<long>(lanes * piece.first, box[2].first), last = std::min<long>(lanes * piece.last, box[2].last);
                    for (long k = first; k < last; ++k) {
                        const long block = k / lanes - piece.first;
                        if (weights_[lanes * weight_of_[piece.weight + block] + k % lanes] != 0)
                            f(i, j, k, states + lanes * block * media_[medium].states() + k % lanes);
                    }
                }
            }
    }
    long media() const { return static_cast<long>(media_.size()); }
    long states_of(long medium) const { return media_[medium].states(); }
    std::size_t bytes() const {
        return (length_ + weights_.size()) * sizeof(Real) + weight_of_.size() * sizeof(std::uint32_t) + pieces_.size() * sizeof(Piece) +
               first_state_.size() * (sizeof(std::size_t) + sizeof(std::uint32_t));
    }

private:
    struct Piece {  // blocks [first, last) of a row that hold a medium
        std::int32_t medium, first, last;
        std::uint32_t weight;       // into weight_of_, an entry a block
        std::uint32_t state, drop;  // within the row's states and its scratch, in blocks of 16
    };
    struct Program {
        std::uint32_t first = 0, count = 0, states = 0;
    };

    long place(long number) const {
        const long rows = this->span.b[1] - this->span.b[0];
        return layout_.row(this->span.a[0] + number / rows, this->span.b[0] + number % rows);
    }
    // What the row under way is to lose, piece after piece: made and used by one thread within one update.
    Real* scratch() const {
        static thread_local std::array<std::vector<Real>, 3> rows;
        std::vector<Real>& row = rows[this->component % 3];
        if (row.size() < scratch_length_) row.resize(scratch_length_);
        return row.data();
    }
    std::uint32_t make_program(const std::vector<long>& media, const Real* weights, long stride);
    std::uint32_t intern_weights(const Real* row, long block);

    Layout layout_;
    const std::vector<PoleMedium<Real>>& media_;
    const Rows<Real>& kernels_;
    std::vector<std::uint32_t> row_program_;
    std::vector<Program> programs_;
    std::vector<Piece> pieces_;
    std::vector<std::uint32_t> weight_of_;
    std::vector<Real> weights_;
    std::vector<std::size_t> first_state_;  // of each row
    std::size_t length_ = 0, scratch_length_ = 0;
    Array<Real> states_;
    std::unordered_map<std::string, std::uint32_t> block_of_, program_of_;
};

// A row's pieces: for each medium, the runs of blocks in which it weighs anything.
template <class Real>
std::uint32_t Poles<Real>::make_program(const std::vector<long>& media, const Real* weights, long stride) {
    const auto holds = [&](const Real* row, long block) {
        return std::any_of(row + lanes * block, row + std::min(layout_.nc, lanes * (block + 1)), [](Real w) { return w != 0; });
    };
    std::vector<std::int64_t> key;  // medium, first block and the weights of each
    for (std::size_t n = 0; n < media.size(); ++n, weights += stride)
        for (long block = 0; block < layout_.blocks; ++block)
            if (holds(weights, block)) key.insert(key.end(), {media[n], block, intern_weights(weights, block)});
    if (key.empty()) return 0;
    const std::string text(reinterpret_cast<const char*>(key.data()), key.size() * sizeof(key[0]));
    const auto [found, fresh] = program_of_.try_emplace(text, programs_.size());
    if (!fresh) return found->second;
    Program program{static_cast<std::uint32_t>(pieces_.size()), 0, 0};
    std::uint32_t drop = 0;
    for (std::size_t n = 0; n < key.size(); n += 3) {
        const auto medium = static_cast<std::int32_t>(key[n]), block = static_cast<std::int32_t>(key[n + 1]);
        if (!program.count || pieces_.back().medium != medium || pieces_.back().last != block) {
            pieces_.push_back({medium, block, block, static_cast<std::uint32_t>(weight_of_.size()), program.states, drop});
            ++program.count;
        }
        weight_of_.push_back(static_cast<std::uint32_t>(key[n + 2]));
        ++pieces_.back().last, ++drop;
        program.states += media_[medium].states();
    }
    scratch_length_ = std::max<std::size_t>(scratch_length_, lanes * drop);
    programs_.push_back(program);
    return found->second;
}

template <class Real>
std::uint32_t Poles<Real>::intern_weights(const Real* row, long block) {
    std::array<Real, lanes> values{};
    std::copy(row + lanes * block, row + std::min(layout_.nc, lanes * (block + 1)), values.begin());
    const std::string key(reinterpret_cast<const char*>(values.data()), sizeof(values));
    const auto [found, fresh] = block_of_.try_emplace(key, static_cast<std::uint32_t>(weights_.size() / lanes));
    if (fresh) weights_.insert(weights_.end(), values.begin(), values.end());
    return found->second;
}

}  // namespace nearfield
