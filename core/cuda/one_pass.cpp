// Steps of the engine on a device in one pass over memory, where rows are plain (cut.hpp, sweep.cu).
#include <algorithm>

#include "engine.hpp"

namespace nearfield::cuda {

// Which tiles hold nothing but the update: no CPML, no sample of a list, no dispersive medium.
template <class Real>
std::vector<bool> CardEngine<Real>::plain_tiles(const std::vector<Tile>& tiles) const {
    const Layout& l = layout();
    std::vector<int> tile_of(l.rows() * l.blocks);
    std::vector<bool> plain;
    for (const Tile& tile : tiles) {
        for (int y = 0; y < tile.rows; ++y)
            std::fill_n(tile_of.begin() + l.row(tile.i, tile.j + y) * l.blocks + tile.k, tile.blocks,
                        int(plain.size()));
        plain.push_back(tile.a_slab < 0 && tile.b_slab < 0 && !tile.c_slab);
    }
    const auto mark = [&](long at) {  // in the records of one part
        const long i = at / l.plane_length - 1, j = at % l.plane_length / l.record_length - 1;
        const long k = at % l.record_length % l.field_length - lanes;
        plain[tile_of[l.row(i, j) * l.blocks + k / lanes]] = false;
    };
    for (const auto& half : stages_)
        for (const Stage<Real>& stage : half)
            for (const auto& entry : stage.entries) mark(entry.at % l.volume_length);
    for (const auto& each : poles_)
        if (each)
            for (const PoleBlock& block : each->blocks()) mark(block.at + l.record(0, 0));
    return plain;
}

// Whether steps go in one pass where they can, and what that takes.
template <class Real>
void CardEngine<Real>::prepare_sweeps(const std::vector<Tile>& tiles) {
    constexpr double worth_while = 0.9;   // of the bytes of two passes
    constexpr std::size_t columns = 256;  // fewer leave multiprocessors of a card idle
    const bool closed = seams_[0].closed || seams_[1].closed || seams_[2].closed;
    if (passes_ == 2 || closed || reaches_far()) return;
    const Cut cut = cut_by_place(layout(), tiles, plain_tiles(tiles));
    if (cut.columns.empty() || (!passes_ && (cut.columns.size() < columns || moved_share(cut) > worth_while))) return;
    try {
        other_.resize(records_.size());
    } catch (const DeviceFull&) {
        if (passes_) throw;
        return;  // two passes take half the memory
    }
    swept_.assign(cut.columns);
    carried_.assign(cut.carried), electric_.assign(cut.electric), magnetic_.assign(cut.magnetic);
}

// Whether a step goes in one pass: nothing records whole boxes in it.
template <class Real>
bool CardEngine<Real>::sweeps(long number) const {
    return swept_.size() && !copies_are_due(number, number + 1) &&
           std::none_of(transforms_.begin(), transforms_.end(),
                        [=](const Transform<Real>& each) { return number % each.stride == 0; });
}

// From `records_` to `other_`, which change places: first, there, both halves of what is not plain, then all columns.
template <class Real>
void CardEngine<Real>::sweep_step(long number) {
    const Layout& l = layout();
    std::swap(records_, other_);
    turned_ = !turned_;
    const auto first = [&](const Buffer<N>& set, int p) { return set.data() + p * l.volume_length + l.record(0, 0); };
    for (int p = 0; p < parts() && carried_.size(); ++p) {
        const Carry<N> arguments{first(other_, p), first(records_, p),  carried_.data(), l.record_length,
                                 l.plane_length,   int(l.field_length), int(l.c_low),    int(l.c_high - l.c_low)};
        device_->launch(sweep_carry[in_double], long(carried_.size()), &arguments);
    }
    for (int half = 0; half < 2; ++half) {
        for (int p = 0; p < parts(); ++p) launch_half(half, p, half ? magnetic_ : electric_);
        for (Stage<Real>& stage : stages_[half])
            if (stage.kind == Follows::points || stage.kind == Follows::incident) follow(half, stage, number);
    }
    const auto arrays_of = [&](int half) {
        const HalfArrays& arrays = half_arrays_[half];
        return SweepHalf<N>{axis_of(half, 0),         axis_of(half, 1),      axis_of(half, 2),
                            arrays.program_of.data(), arrays.entries.data(), arrays.values.data()};
    };
    for (int p = 0; p < parts(); ++p) {
        const Sweep<N> arguments{first(other_, p), first(records_, p), arrays_of(0),   arrays_of(1),
                                 swept_.data(),    l.record_length,    l.plane_length, int(l.field_length),
                                 int(l.nb),        int(l.blocks)};
        device_->launch(sweep[in_double], long(swept_.size()), &arguments);
    }
}

template class CardEngine<float>;
template class CardEngine<double>;

}  // namespace nearfield::cuda
