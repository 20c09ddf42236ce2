#include "palette.hpp"

#include <algorithm>

#include "coefficient_rows.hpp"

namespace nearfield {

// `ca`, `cb`: three blocks each.
template <class Real>
auto Palette<Real>::intern_block(const Real* ca, const Real* cb) -> Entry {
    const std::string key = bytes_of(ca, 3 * lanes) + bytes_of(cb, 3 * lanes);
    if (auto found = block_of_.find(key); found != block_of_.end()) return found->second;
    const bool lossless = std::all_of(ca, ca + 3 * lanes, [](Real c) { return c == Real(1); });
    bool uniform = lossless;
    for (int component = 0; component < 3 && uniform; ++component) {
        const Real* row = cb + component * lanes;
        uniform = std::all_of(row, row + lanes, [row](Real c) { return c == row[0]; });
    }
    const Entry entry{static_cast<std::uint32_t>(values_.size() / lanes), uniform    ? Kind::uniform
                                                                          : lossless ? Kind::lossless
                                                                                     : Kind::lossy};
    for (int component = 0; component < 3; ++component) {
        if (entry.kind == Kind::lossy)
            values_.insert(values_.end(), ca + component * lanes, ca + (component + 1) * lanes);
        values_.insert(values_.end(), cb + component * lanes, cb + (component + 1) * lanes);
    }
    block_of_.emplace(key, entry);
    return entry;
}

// Whether all samples of a block that change at all have one Cb a component and Ca = 1; `drive`: that Cb, 0 for none.
template <class Real>
bool Palette<Real>::hold_zeros(long block, Row ca, Row cb, Drive& drive) const {
    const long length = lanes * layout_.blocks;
    drive = {};
    for (long component = 0; component < 3; ++component)
        for (long k = component * length + block * lanes, end = k + lanes; k < end; ++k) {
            if (ca[k] != Real(1)) return false;
            if (cb[k] == Real(0)) continue;
            if (drive[component] != Real(0) && cb[k] != drive[component]) return false;
            drive[component] = cb[k];
        }
    return true;
}

// Adds the samples of a uniform run that have to stay zero although its Cb says otherwise. Past the row's end it is
// enough to hold the first sample of Ex and Ey: everything else there reads zeros alone.
template <class Real>
void Palette<Real>::add_held(const Run& run, const Drive& drive, Row cb, Program& program) {
    const long length = lanes * layout_.blocks, first = lanes * run.first;
    for (std::int32_t component = 0; component < 3; ++component) {
        if (drive[component] == Real(0)) continue;
        const Real* row = cb.data() + component * length;
        const long last = std::min(lanes * run.last, layout_.nc + (electric_ && component < 2));
        for (const Real *begun = row + first, *end = begun;
             (begun = std::find(end, row + last, Real(0))) < row + last;) {
            end = std::find_if(begun, row + last, [](Real c) { return c != Real(0); });
            held_.push_back({component, std::int32_t(begun - row), std::int32_t(end - row)}), ++program.held_count;
        }
    }
}

// One uniform run for each stretch of a row, where blocks differ by samples that stay zero alone, and by few of those.
template <class Real>
bool Palette<Real>::make_uniform(Row ca, Row cb, Program& program) {
    std::vector<Drive> drives;  // of each run; empty blocks of zeros join any
    for (long block = 0; block < layout_.blocks; ++block) {
        const auto n = static_cast<std::int32_t>(block);
        Drive drive;
        if (!hold_zeros(block, ca, cb, drive)) return false;
        if (!program.count || runs_.back().stretched != is_stretched(block)) {
            runs_.push_back({n, n + 1, 0, Kind::uniform, is_stretched(block)});
            drives.push_back(drive), ++program.count;
            continue;
        }
        runs_.back().last = n + 1;
        for (int c = 0; c < 3; ++c) {
            Real& known = drives.back()[c];
            if (known != Real(0) && drive[c] != Real(0) && known != drive[c]) return false;
            known = std::max(known, drive[c]);
        }
    }
    for (std::uint32_t n = 0; n < program.count; ++n) {
        Run& run = runs_[program.first + n];
        Real a[3 * lanes], b[3 * lanes];
        std::fill_n(a, 3 * lanes, Real(1));
        for (int c = 0; c < 3; ++c) std::fill_n(b + c * lanes, lanes, drives[n][c]);
        run.offset = intern_block(a, b).offset;
        add_held(run, drives[n], cb, program);
    }
    return program.held_count <= layout_.blocks / 2 + 4;  // more, a sieve of metal, cost more than blocks of their own
}

// Runs of blocks, each with its own coefficients: further runs would cost more than to load them.
template <class Real>
void Palette<Real>::make_runs(Row ca, Row cb, Program& program) {
    const long length = lanes * layout_.blocks;
    for (long block = 0; block < layout_.blocks; ++block) {
        Real a[3 * lanes], b[3 * lanes];
        for (int c = 0; c < 3; ++c) {
            std::copy_n(ca.data() + c * length + block * lanes, lanes, a + c * lanes);
            std::copy_n(cb.data() + c * length + block * lanes, lanes, b + c * lanes);
        }
        const Entry entry = intern_block(a, b);
        const auto n = static_cast<std::int32_t>(block);
        Run* const last = program.count ? &runs_.back() : nullptr;
        const Kind kind = entry.kind == Kind::lossy ? Kind::lossy : Kind::lossless;
        if (last && last->stretched == is_stretched(block) && last->kind == kind) {
            last->last = n + 1;
        } else {
            runs_.push_back({n, n + 1, static_cast<std::uint32_t>(places_.size()), kind, is_stretched(block)});
            ++program.count;
        }
        places_.push_back(entry.offset);
    }
}

template <class Real>
std::uint32_t Palette<Real>::intern_row(Row ca, Row cb) {
    const std::string key = bytes_of(ca.data(), ca.size()) + bytes_of(cb.data(), cb.size());
    if (auto found = program_of_.find(key); found != program_of_.end()) return found->second;
    const Program empty{static_cast<std::uint32_t>(runs_.size()), 0, static_cast<std::uint32_t>(held_.size())};
    Program program = empty;
    if (!make_uniform(ca, cb, program)) {
        program = empty;
        runs_.resize(program.first), held_.resize(program.held_first);
        make_runs(ca, cb, program);
    }
    programs_.push_back(program);
    const auto id = static_cast<std::uint32_t>(programs_.size() - 1);
    program_of_.emplace(key, id);
    return id;
}

template <class Real>
void Palette<Real>::set_planes(long first, long last, const Real* ca, const Real* cb) {
    each_coefficient_row(layout_, ca, cb, [&](long j, Row a, Row b) {
        const std::uint32_t id = intern_row(a, b);
        for (long i = first; i < last; ++i) row_program_[layout_.row(i, j)] = id;
    });
}

template <class Real>
void Palette<Real>::set_taken(long row, const std::vector<Taken>& taken) {
    const std::uint32_t plain = row_program_[row];
    const std::string key = bytes_of(&plain, 1) + bytes_of(taken.data(), taken.size());
    const auto [found, fresh] = taking_.try_emplace(key, static_cast<std::uint32_t>(programs_.size()));
    if (fresh) {
        Program program = programs_[plain];
        program.taken_first = taken_.size(), program.taken_count = taken.size();
        plain_.resize(programs_.size());
        plain_.push_back(plain);
        programs_.push_back(program);
        taken_.insert(taken_.end(), taken.begin(), taken.end());
    }
    row_program_[row] = found->second;
}

template <class Real>
void Palette<Real>::forget_taken() {
    for (std::uint32_t& program : row_program_)
        if (programs_[program].taken_count) program = plain_[program];
}

template class Palette<float>;
template class Palette<double>;

}  // namespace nearfield
