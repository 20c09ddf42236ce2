// A running Fourier transform of a box (cell/fourier.h): S(f) <- S(f) + F exp(-j 2 pi f t), in the order of steps.
// Layout: sums (frequencies, 2, samples). A thread makes all sums of one sample. Traffic in single precision: 4 bytes a
// sample, 16 a sample and frequency.
#include "cell/fourier.h"
#include "recorded.h"

namespace nearfield::cuda {

template <class Real, class Stored>
NEARFIELD_CELL void transform(const Spectrum<Real>& s) {
    last_phase([&](int thread) {
        const long number = long(block_number()) * threads_of_block + thread, samples = samples_of(s.box);
        if (number >= samples) return;
        const Real value = sample_of<Stored>(s.box, number);
        const Real* const phasors = s.phasors + s.now->in_block * s.parts;
        for (int part = 0; part < s.parts; ++part) {
            Real* const sum = s.sums + part * samples + number;
            *sum = cell::transformed(*sum, phasors[part], value);
        }
    });
}

#define SPECTRUM(Real, Stored, a) transform<Real, Stored>(a)
NEARFIELD_FIELD_KERNEL(spectrum, Spectrum, 0, SPECTRUM)

}  // namespace nearfield::cuda
