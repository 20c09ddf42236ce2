#include "row_maker.hpp"

namespace nearfield {

// Imaginary parts take nothing: incident waves are real.
template <class Real>
void RowMaker<Real>::begin() {
    for (int half = 0; half < 2; ++half) {
        for (int part = 0; part < block_.parts; ++part) half_step_[half][part] = block_.half_step(half, part);
        update_[half] = (half ? rows_.magnetic : rows_.electric)[operations_.amounts(half).any()];
    }
}

template <class Real>
template <int half>
__attribute__((always_inline)) inline void RowMaker<Real>::make(long i, long j, const Blocks& part, const Step& step) {
    operations_.precede(half, block_, i, j, part, step);
    update_[half](half_step_[half][0], i, j, part.first, part.last, operations_.amounts(half).of(i, j, step));
    if (block_.parts > 1)
        (half ? rows_.magnetic : rows_.electric)[0](half_step_[half][1], i, j, part.first, part.last, nullptr);
    operations_.follow(half, block_, i, j, part, step);
    if (copies_.any()) copies_.carry(half, i, j, part, reach());
}

template <class Real>
void RowMaker<Real>::electric(long i, long j, const Blocks& part, const Step& step) {
    if (part.first >= part.last) return;
    if constexpr (steps_are_counted) counts_.electric(i, j, part, step.number, reach());
    make<0>(i, j, part, step);
}

template <class Real>
void RowMaker<Real>::magnetic(long i, long j, const Blocks& part, const Step& step) {
    if (part.first >= part.last) return;
    if constexpr (steps_are_counted) counts_.magnetic(i, j, part, step.number);
    make<1>(i, j, part, step);
    if (step.energy && part.last == block_.layout.blocks) squares_.add_row(i, j, *step.energy);
}

template class RowMaker<float>;
template class RowMaker<double>;

}  // namespace nearfield
