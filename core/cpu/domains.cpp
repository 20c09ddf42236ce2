// The domains of an engine: which threads work on them, and where their pages lie.

#include <algorithm>

#include "engine.hpp"

namespace nearfield {

// Domains in order get threads in order: several each, or one for several.
template <class Real>
void Engine<Real>::share() {
    const long threads = team_.size(), domains = cuts_.count();
    long domain = 0;
    for (long a = 0; a < cuts_.along_a(); ++a)
        for (long b = 0; b < cuts_.along_b(); ++b)
            for (long c = 0; c < cuts_.along_c(); ++c, ++domain) {
                const long first = domain * threads / domains, last = std::max(first + 1, (domain + 1) * threads / domains);
                for (long t = first; t < last; ++t) stints_[t].push_back({a, b, c, t - first, last - first});
            }
}

// Planes of each thread in the stepwise schedule: those of its domains along a, where every domain has threads.
template <class Real>
void Engine<Real>::partition() {
    first_plane_.clear();
    const long threads = team_.size(), parts = cuts_.along_a();
    bool own_planes = threads >= cuts_.count();
    const auto threads_of = [&](long a) { return (a + 1) * threads / parts - a * threads / parts; };
    for (long a = 0; a < parts; ++a) own_planes &= cuts_.planes[a + 1] - cuts_.planes[a] >= threads_of(a);
    if (own_planes)
        for (long a = 0; a < parts; ++a) partition({cuts_.planes[a], cuts_.planes[a + 1]}, threads_of(a));
    else
        partition({0, block_.layout.na}, threads);
    first_plane_.push_back(block_.layout.na);
}

// Planes in an a slab cost more; by how much is an estimate, and bears on the balance of the threads alone.
template <class Real>
void Engine<Real>::partition(const Extent& planes, long threads) {
    const Layout& l = block_.layout;
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

// Zeroes in all records and psi of the thread's part of its domain. The first time this decides where their pages lie.
template <class Real>
void Engine<Real>::clear(const Stint& stint) {
    if (stint.c > 0) return;  // rows are placed whole
    const Layout& l = block_.layout;
    const long low = cuts_.planes[stint.a], planes = cuts_.planes[stint.a + 1] - low;
    const Extent own{low + planes * stint.rank / stint.count, low + planes * (stint.rank + 1) / stint.count};
    const long first = own.first == 0 ? -1 : own.first, last = own.last == l.na ? l.na + 1 : own.last;
    const Extent rows{cuts_.rows[stint.b], cuts_.rows[stint.b + 1]};
    const long lowest = rows.first == 0 ? -1 : rows.first, highest = rows.last == l.nb ? l.nb + 1 : rows.last;
    if (own.first == own.last) return;
    for (int part = 0; part < block_.parts; ++part)
        for (long i = first; i < last; ++i) {
            std::fill_n(block_.record(part, i, lowest), (highest - lowest) * l.record_length, Real(0));
            if (!own.holds(i)) continue;
            if (l.slab[0].holds(i, l.na))
                std::fill_n(block_.a_psi_of(part) + l.a_psi(i, rows.first), (rows.last - rows.first) * l.psi_row, Real(0));
            for (long j = rows.first; j < rows.last; ++j)
                if (l.slab[1].holds(j, l.nb)) std::fill_n(block_.b_psi_of(part) + l.b_psi(i, j), l.psi_row, Real(0));
        }
}

template <class Real>
void Engine<Real>::clear() {
    if (placement_.memory == MemoryPolicy::off && !touched_) {
        for (const auto& stints : stints_)
            for (const Stint& stint : stints) clear(stint);
    } else {
        team_.run([this](long thread) {
            for (const Stint& stint : stints_[thread]) {
                const ThreadPolicy policy(placement_.memory, placement_.nodes[stint.domain(cuts_)]);
                clear(stint);
            }
        }, [] {});
    }
    touched_ = true;
}

template <class Real>
std::vector<PageCounts> Engine<Real>::pages(long sample) {
    const Layout& l = block_.layout;
    std::vector<PageCounts> found;
    for (long a = 0; a < cuts_.along_a(); ++a)
        for (long b = 0; b < cuts_.along_b(); ++b) {
            PageCounts domain;
            const long low = cuts_.planes[a], high = cuts_.planes[a + 1], row = cuts_.rows[b], rows = cuts_.rows[b + 1] - row;
            const bool whole = cuts_.along_b() == 1;
            for (long i = low; i < high; i += whole ? high - low : 1) {
                const long length = whole ? (high - low) * l.plane_length : rows * l.record_length;
                const long share = std::max(1L, whole ? sample : sample / (high - low));
                const PageCounts piece = pages_by_node(block_.records.get() + l.record(i, row), length * sizeof(Real), share);
                domain.by_node.resize(std::max(domain.by_node.size(), piece.by_node.size()));
                for (std::size_t n = 0; n < piece.by_node.size(); ++n) domain.by_node[n] += piece.by_node[n];
                domain.absent += piece.absent, domain.unknown += piece.unknown, domain.pages += piece.pages;
            }
            found.insert(found.end(), cuts_.along_c(), domain);  // rows are placed whole
        }
    return found;
}

#define NEARFIELD_INSTANTIATE(Real)                    \
    template void Engine<Real>::share();               \
    template void Engine<Real>::partition();           \
    template void Engine<Real>::clear();               \
    template std::vector<PageCounts> Engine<Real>::pages(long);
NEARFIELD_INSTANTIATE(float)
NEARFIELD_INSTANTIATE(double)

}  // namespace nearfield
