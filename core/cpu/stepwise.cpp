#include "stepwise.hpp"

namespace nearfield {

// Planes of each thread in the stepwise schedule: those of its domains along a, where every domain has threads.
template <class Real>
void Stepwise<Real>::partition() {
    const Cuts& cuts = work_.domains.cuts;
    const long threads = work_.domains.team.size(), parts = cuts.along_a();
    bool own_planes = threads >= cuts.count();
    const auto threads_of = [&](long a) { return (a + 1) * threads / parts - a * threads / parts; };
    for (long a = 0; a < parts; ++a) own_planes &= cuts.planes[a + 1] - cuts.planes[a] >= threads_of(a);
    if (own_planes)
        for (long a = 0; a < parts; ++a) partition({cuts.planes[a], cuts.planes[a + 1]}, threads_of(a));
    else
        partition({0, work_.layout.na}, threads);
    first_plane_.push_back(work_.layout.na);
}

// Planes in an a slab cost more; by how much is an estimate, and bears on the balance of the threads alone.
template <class Real>
void Stepwise<Real>::partition(const Extent& planes, long threads) {
    const Layout& l = work_.layout;
    const auto cost = [&](long i) { return l.slab[0].holds(i, l.na) ? 1.35 : 1.0; };
    double total = 0, sum = 0;
    for (long i = planes.first; i < planes.last; ++i) total += cost(i);
    long thread = 0;  // threads that have their first plane
    for (long i = planes.first; i < planes.last; ++i) {
        const bool must = planes.last - i == threads - thread;  // one plane left for each thread still to come
        if (thread < threads && (must || sum >= total * thread / threads)) first_plane_.push_back(i), ++thread;
        sum += cost(i);
    }
}

template <class Real>
void Stepwise<Real>::begin(long step) {
    for (Marks& marks : marks_)
        for (Progress* done :
             {&marks.electric_first, &marks.magnetic_last, &marks.electric_last, &marks.magnetic_first})
            done->raise(step);
}

template <class Real>
void Stepwise<Real>::sweep(long thread, long first, long last, ExactSum& energy) {
    for (long n = first; n < last; ++n)
        if (!make_planes(thread, work_.steps.at(n, energy, thread))) return;
}

template <class Real>
bool Stepwise<Real>::make_planes(long thread, const Step& step) {
    const Layout& l = work_.layout;
    const StepRows& made = work_.steps.rows[step.in_block];
    const std::atomic<bool>& stop = work_.stop;
    const long first = first_plane_[thread], last = first_plane_[thread + 1], threads = long(marks_.size());
    const bool ring = work_.seams[0].closed, far = work_.rows.reach() > 1;
    const bool waits_below = thread > 0 || ring, waits_above = thread < threads - 1 || ring;
    const Marks &below = marks_[(thread + threads - 1) % threads], &above = marks_[(thread + 1) % threads];
    Marks& own = marks_[thread];
    const Blocks row{0, l.blocks};
    const auto electric = [&](long i, long j) {
        if (made.holds_stored(0, i, j, l)) work_.rows.electric(i, j, row, step);
    };
    const auto magnetic = [&](long i, long j) {
        if (made.holds_stored(1, i, j, l)) work_.rows.magnetic(i, j, row, step);
    };
    const auto magnetic_plane = [&](long i) {
        for (long j = 0; j < l.nb; ++j) magnetic(i, j);
    };
    if (waits_below && !below.magnetic_last.reached(step.number - 1, stop)) return false;
    for (long i = first; i < last; ++i) {
        if (stop.load(std::memory_order_relaxed)) return false;
        if (far && i == last - 1 && waits_above && !above.magnetic_first.reached(step.number - 1, stop)) return false;
        for (long j = 0; j < l.nb; ++j) {
            electric(i, j);
            if (!far && i > first && j > 0) magnetic(i - 1, j - 1);
        }
        if (i == first) own.electric_first.raise(step.number);
        if (!far && i > first) magnetic(i - 1, l.nb - 1);
        if (far && i > first + 1) magnetic_plane(i - 1);
    }
    own.electric_last.raise(step.number);
    if (waits_above && !above.electric_first.reached(step.number, stop)) return false;
    if (!far || last - first > 1) magnetic_plane(last - 1);
    if (far) {
        if (waits_below && !below.electric_last.reached(step.number, stop)) return false;
        magnetic_plane(first);
        own.magnetic_first.raise(step.number);
    }
    own.magnetic_last.raise(step.number);
    return true;
}

template class Stepwise<float>;
template class Stepwise<double>;

}  // namespace nearfield
