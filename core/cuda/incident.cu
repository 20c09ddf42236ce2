// What incident waves add to samples on the faces of total-field boxes (cell/incident.h):
//     F <- F + weight v,   v = sum of share[n] table[column[n]].
// A thread makes one sample with all that it takes, in order. Traffic in single precision: 8 bytes a sample, 16 a term
// and 8 a tap, and what the tables' lines cost, which many samples share.
#include "cell/incident.h"
#include "stored.h"

namespace nearfield::cuda {

template <class Real, class Stored>
NEARFIELD_CELL void receive(const Incident<Real>& p) {
    last_phase([&](int thread) {
        const int number = block_number() * threads_of_block + thread;
        if (number >= p.count) return;
        const Touched touched = p.samples[number];
        const long step = p.now->in_block;
        Stored* const at = stored<Stored>(p.records) + touched.at;
        Real field = sample(at, p.scale);
        for (unsigned n = touched.first; n < touched.last; ++n) {
            const Received received = p.received[n];
            const WaveTable<Real> wave = p.waves[received.wave];
            if (!wave.values) continue;
            const Real* const now = wave.values + step * wave.columns;
            const auto share = [&](long tap) { return p.shares[received.tap + tap]; };
            const auto value = [&](long tap) { return now[p.columns[received.tap + tap]]; };
            const Real sum = cell::interpolated<Real>(share, value, long(received.taps));
            field = field + cell::incident_amount(p.weights[n], sum);
        }
        put_sample(at, field, p.scale);
    });
}

#define INCIDENT(Real, Stored, a) receive<Real, Stored>(a)
NEARFIELD_FIELD_KERNEL(incident, Incident, 0, INCIDENT)

}  // namespace nearfield::cuda
