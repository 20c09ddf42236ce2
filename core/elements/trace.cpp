#include "elements/trace.hpp"

#include <algorithm>
#include <atomic>
#include <limits>

#include "elements/tracer.hpp"
#include "solids/parallel.hpp"

namespace nearfield::elements {

namespace {

constexpr long batch = 1024;  // points of a chunk of work

void raise(double& most, double value) {
    std::atomic_ref shared(most);
    double seen = shared.load(std::memory_order_relaxed);
    while (value > seen && !shared.compare_exchange_weak(seen, value, std::memory_order_relaxed)) {
    }
}

// The points around which labels differ, and of every extremum the value that a line has to pass so that nothing but this
// extremum lies ahead: the largest within a cell of such a point. (Overshoot of the interpolant between points is left out.)
template <class T>
std::vector<double> thresholds_of(const Lattice& lattice, const T* field, double sign, const std::vector<Label>& labels,
                                  std::size_t extrema, std::vector<std::uint8_t>& mixed, int threads) {
    std::vector<double> found(extrema, -std::numeric_limits<double>::infinity());
    in_chunks(lattice.size(), batch, threads, [&](long first, long last) {
        for (long p = first; p < last; ++p) {
            const Place at = lattice.place(p);
            Label around[directions];
            double most = sign * field[p];
            bool alike = true;
            for (int d = 0; d < directions; ++d) {
                Site to;
                around[d] = labels[p];
                if (!lattice.neighbour(at, step_of(d), to)) continue;
                around[d] = moved(labels[to.index], to.image);
                alike = alike && around[d] == labels[p];
                most = std::max(most, sign * field[to.index]);
            }
            mixed[p] = !alike;
            if (alike) continue;
            for (const Label label : around)
                if (label != unknown) raise(found[rank_of(label)], most);
        }
    });
    return found;
}

}  // namespace

template <class T>
std::vector<Label> traced(const Lattice& lattice, const std::array<Axis<T>, 3>& axes, const T* field, double sign,
                          const std::vector<Label>& labels, const std::vector<Extremum>& extrema, const Effort& effort,
                          Counts& counts) {
    std::vector<std::uint8_t> wanted(lattice.size());
    const auto thresholds = thresholds_of(lattice, field, sign, labels, extrema.size(), wanted, effort.threads);
    const Task<T> task{lattice, axes, field, sign, labels.data(), extrema.data(), thresholds.data()};
    const Tracer<T> tracer(task);
    if (effort.all) std::fill(wanted.begin(), wanted.end(), 1);
    std::vector<Label> found = labels;
    enum : std::uint8_t { idle, asked, done };
    std::atomic<long> lines{0}, lost{0};
    for (bool more = true; more;) {
        std::vector<std::vector<long>> changed(std::size_t((lattice.size() + batch - 1) / batch));
        in_chunks(lattice.size(), batch, effort.threads, [&](long first, long last) {
            std::array<long, batch> points{};
            std::array<Label, batch> ends;
            long own = 0;
            for (long p = first; p < last; ++p) {
                if (wanted[p] != asked) continue;
                wanted[p] = done;
                points[own++] = p;
            }
            tracer.follow(points.data(), own, ends.data());
            lines += own;
            lost += std::count(ends.begin(), ends.begin() + own, unknown);
            for (long m = 0; m < own; ++m) {
                if (ends[m] == unknown || ends[m] == labels[points[m]]) continue;
                found[points[m]] = ends[m];
                changed[first / batch].push_back(points[m]);
            }
        });
        more = false;
        for (const auto& part : changed)
            for (const long p : part)
                for (int d = 0; d < directions; ++d) {
                    Site to;
                    if (!lattice.neighbour(lattice.place(p), step_of(d), to) || wanted[to.index] != idle) continue;
                    wanted[to.index] = asked;
                    more = true;
                }
    }
    counts.traced += lines;
    counts.unresolved += lost;
    return found;
}

template std::vector<Label> traced<float>(const Lattice&, const std::array<Axis<float>, 3>&, const float*, double,
                                          const std::vector<Label>&, const std::vector<Extremum>&, const Effort&,
                                          Counts&);
template std::vector<Label> traced<double>(const Lattice&, const std::array<Axis<double>, 3>&, const double*, double,
                                           const std::vector<Label>&, const std::vector<Extremum>&, const Effort&,
                                           Counts&);

}  // namespace nearfield::elements
