#include "elements/geometry.hpp"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <unordered_map>
#include <unordered_set>

#include "schedule/loop.hpp"

namespace nearfield::elements {

namespace {

constexpr long batch = 1 << 15;  // points of a chunk of work

using Extent = std::array<std::array<long, 2>, 3>;

template <class Better>
void keep(long& best, long value, const Better& better) {
    std::atomic_ref shared(best);
    long seen = shared.load(std::memory_order_relaxed);
    while (better(value, seen) && !shared.compare_exchange_weak(seen, value, std::memory_order_relaxed)) {
    }
}

// `work(place, label)` at the points where a row's label changes, and at the ends of rows: between these all is inside.
template <class Work>
void along_rows(const Lattice& lattice, const Label* labels, long first, long last, const Work& work) {
    const long n = lattice.n[2];
    for (long p = first; p < last; ++p) {
        const long k = p % n;
        const bool inner = k > 0 && k + 1 < n && labels[p - 1] == labels[p] && labels[p + 1] == labels[p];
        if (!inner) work(lattice.place(p), labels[p]);
    }
}

// Places of an axis that elements have points at, of elements with points at both of its ends.
using Places = std::unordered_map<Label, std::vector<bool>>;

// The part between the longest two places without points between them, seen around the period.
void reopen(std::array<long, 2>& extent, const std::vector<bool>& places) {
    const long n = long(places.size());
    std::vector<long> at;
    for (long m = 0; m < n; ++m)
        if (places[m]) at.push_back(m);
    long longest = 1;
    std::array<long, 2> found = extent;
    for (std::size_t m = 0; m < at.size(); ++m) {
        const bool final = m + 1 == at.size();
        const long gap = (final ? at[0] + n : at[m + 1]) - at[m];
        if (gap > longest) longest = gap, found = {final ? at[0] : at[m + 1], at[m]};
    }
    extent = found;
}

// Rows are taken whole, as every point of a row counts along the axis of rows.
void reopen_axis(const Lattice& lattice, const Label* labels, int axis, std::vector<Extent>& found, int threads) {
    const long n = lattice.n[axis];
    Places places;
    for (std::size_t e = 0; e < found.size(); ++e)
        if (found[e][axis][0] == 0 && found[e][axis][1] == n - 1) places[Label(e)].resize(n);
    if (places.empty()) return;
    std::mutex lock;
    in_chunks(lattice.size(), batch, threads, [&](long first, long last) {
        std::unordered_set<std::uint64_t> own;
        const auto note = [&](long p, const Place& at) {
            if (places.contains(labels[p])) own.insert(std::uint64_t(labels[p]) << 32 | std::uint64_t(at[axis]));
        };
        for (long p = first; p < last; ++p)
            if (axis == 2 || p == first || p % lattice.n[2] == 0 || labels[p] != labels[p - 1])
                note(p, lattice.place(p));
        const std::scoped_lock held(lock);
        for (const auto each : own) places[Label(each >> 32)][each & 0xFFFFFFFF] = true;
    });
    for (auto& [element, held] : places) reopen(found[element][axis], held);
}

}  // namespace

std::vector<Extent> extents(const Lattice& lattice, const Label* labels, long elements, int threads) {
    std::vector<Extent> found(elements);
    for (auto& each : found)
        for (int axis = 0; axis < 3; ++axis) each[axis] = {lattice.n[axis] - 1, 0};
    in_chunks(lattice.size(), batch, threads, [&](long first, long last) {
        along_rows(lattice, labels, first, last, [&](const Place& at, Label label) {
            for (int axis = 0; axis < 3; ++axis) {
                keep(found[label][axis][0], at[axis], std::less<>());
                keep(found[label][axis][1], at[axis], std::greater<>());
            }
        });
    });
    for (int axis = 0; axis < 3; ++axis)
        if (lattice.periodic[axis]) reopen_axis(lattice, labels, axis, found, threads);
    return found;
}

std::vector<std::uint64_t> touching(const Lattice& lattice, const Label* labels, long elements, int threads) {
    std::unordered_set<std::uint64_t> all;
    std::mutex lock;
    in_chunks(lattice.size(), batch, threads, [&](long first, long last) {
        std::unordered_set<std::uint64_t> own;
        for (long p = first; p < last; ++p) {
            const Place at = lattice.place(p);
            for (int axis = 0; axis < 3; ++axis) {
                Place step{};
                step[axis] = 1;
                Site to;
                if (lattice.n[axis] == 1 || !lattice.neighbour(at, step, to) || labels[to.index] == labels[p]) continue;
                const auto [low, high] = std::minmax(labels[p], labels[to.index]);
                own.insert(std::uint64_t(low) * std::uint64_t(elements) + high);
            }
        }
        const std::scoped_lock held(lock);
        all.merge(own);
    });
    std::vector<std::uint64_t> keys(all.begin(), all.end());
    std::sort(keys.begin(), keys.end());
    return keys;
}

}  // namespace nearfield::elements
