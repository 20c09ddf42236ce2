#include "domains.hpp"

#include <algorithm>

namespace nearfield {

Domains::Domains(const Cuts& c, long threads, const Placement& placement)
    : cuts(c), team(threads, placement.processors), placement_(placement), stints_(team.size()) {
    placement_.nodes.resize(cuts.count());
    share();
}

void Domains::share() {
    const long threads = team.size(), domains = cuts.count();
    long domain = 0;
    for (long a = 0; a < cuts.along_a(); ++a)
        for (long b = 0; b < cuts.along_b(); ++b)
            for (long c = 0; c < cuts.along_c(); ++c, ++domain) {
                const long first = domain * threads / domains,
                           last = std::max(first + 1, (domain + 1) * threads / domains);
                for (long t = first; t < last; ++t) stints_[t].push_back({a, b, c, t - first, last - first});
            }
}

// Zeroes in all records and psi of a thread's part of its domain.
template <class Real>
void Domains::clear(Block<Real>& block, const Stint& stint) const {
    if (stint.c > 0) return;  // rows are placed whole
    const Layout& l = block.layout;
    const long low = cuts.planes[stint.a], planes = cuts.planes[stint.a + 1] - low;
    const Extent own{low + planes * stint.rank / stint.count, low + planes * (stint.rank + 1) / stint.count};
    const long first = own.first == 0 ? -1 : own.first, last = own.last == l.na ? l.na + 1 : own.last;
    const Extent rows{cuts.rows[stint.b], cuts.rows[stint.b + 1]};
    const long lowest = rows.first == 0 ? -1 : rows.first, highest = rows.last == l.nb ? l.nb + 1 : rows.last;
    if (own.first == own.last) return;
    for (int part = 0; part < block.parts; ++part)
        for (long i = first; i < last; ++i) {
            std::fill_n(block.record(part, i, lowest), (highest - lowest) * l.record_length, Real(0));
            if (!own.holds(i)) continue;
            if (l.slab[0].holds(i, l.na))
                std::fill_n(block.a_psi_of(part) + l.a_psi(i, rows.first), (rows.last - rows.first) * l.psi_row,
                            Real(0));
            for (long j = rows.first; j < rows.last; ++j)
                if (l.slab[1].holds(j, l.nb)) std::fill_n(block.b_psi_of(part) + l.b_psi(i, j), l.psi_row, Real(0));
        }
}

template <class Real>
void Domains::clear(Block<Real>& block) {
    if (placement_.memory == MemoryPolicy::off && !touched_) {
        for (const auto& stints : stints_)
            for (const Stint& stint : stints) clear(block, stint);
    } else {
        team.run(
            [&](long thread) {
                for (const Stint& stint : stints_[thread]) {
                    const ThreadPolicy policy(placement_.memory, placement_.nodes[stint.domain(cuts)]);
                    clear(block, stint);
                }
            },
            [] {});
    }
    touched_ = true;
}

template <class Real>
std::vector<PageCounts> Domains::pages(Block<Real>& block, long sample) const {
    const Layout& l = block.layout;
    std::vector<PageCounts> found;
    for (long a = 0; a < cuts.along_a(); ++a)
        for (long b = 0; b < cuts.along_b(); ++b) {
            PageCounts domain;
            const long low = cuts.planes[a], high = cuts.planes[a + 1], row = cuts.rows[b],
                       rows = cuts.rows[b + 1] - row;
            const bool whole = cuts.along_b() == 1;
            for (long i = low; i < high; i += whole ? high - low : 1) {
                const long length = whole ? (high - low) * l.plane_length : rows * l.record_length;
                const long share = std::max(1L, whole ? sample : sample / (high - low));
                const PageCounts piece =
                    pages_by_node(block.records.get() + l.record(i, row), length * sizeof(Real), share);
                domain.by_node.resize(std::max(domain.by_node.size(), piece.by_node.size()));
                for (std::size_t n = 0; n < piece.by_node.size(); ++n) domain.by_node[n] += piece.by_node[n];
                domain.absent += piece.absent, domain.unknown += piece.unknown, domain.pages += piece.pages;
            }
            found.insert(found.end(), cuts.along_c(), domain);  // rows are placed whole
        }
    return found;
}

#define NEARFIELD_INSTANTIATE(Real)             \
    template void Domains::clear(Block<Real>&); \
    template std::vector<PageCounts> Domains::pages(Block<Real>&, long) const;
NEARFIELD_INSTANTIATE(float)
NEARFIELD_INSTANTIATE(double)

}  // namespace nearfield
