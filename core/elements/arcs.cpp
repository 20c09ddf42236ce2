#include "elements/arcs.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <numeric>

#include "elements/analysis.hpp"
#include "elements/steepest.hpp"
#include "elements/tracer.hpp"

namespace nearfield::elements {

namespace {

constexpr long batch = 256;  // lines of a chunk of work

// A step along the unit vector of the gradient is as long as its line.
struct Odometer {
    static constexpr bool whole = true, kept = false;
    double length = 0;
    Walk latest{};
    void clear() { length = 0; }
    void add(const Walk& walk) { latest = walk; }
    void advance(double step) { length += step; }
};

// Calls `take(number of the point, length)` of each line one way that ends at an extremum.
template <class T, class Take>
void measure(const Lattice& lattice, const T* field, const Numbers<std::uint8_t>& towards, double sign, long count,
             const std::vector<long>& points, int threads, const Take& take) {
    const auto axes = axes_of<T>(lattice);
    const Team team = alone(lattice, threads);
    const auto summits = ends(towards, team);
    const auto labels = followed(lattice, towards, summits, team, "");
    const auto extrema = refined(lattice, axes, field, summits);
    const Task<T> task{lattice, axes, field, sign, labels.data(), extrema.data()};
    const Tracer<T, Odometer> tracer(task);
    in_chunks(count, batch, threads, [&](long first, long last) {
        std::array<long, batch> own{};
        std::array<Label, batch> stops;
        std::array<Odometer, batch> trails;
        for (long m = first; m < last; ++m) own[m - first] = points.empty() ? m : points[m];
        tracer.follow(own.data(), last - first, stops.data(), trails.data());
        for (long m = 0; m < last - first; ++m) {
            if (stops[m] == unknown) continue;
            const Walk& walk = trails[m].latest;
            const Place turns = image_of(stops[m]);
            double square = 0;
            for (int axis = 0; axis < 3; ++axis) {
                const double far = extrema[rank_of(stops[m])].place[axis] - walk.at[axis] +
                                   double(turns[axis] - walk.image[axis]) * axes[axis].length;
                square += far * far;
            }
            take(first + m, trails[m].length + std::sqrt(square));
        }
    });
}

}  // namespace

template <class T>
std::vector<Arc> arcs(const Lattice& lattice, const T* field, const Label* labels, const std::vector<long>& points,
                      long elements, int threads) {
    const long count = points.empty() ? lattice.size() : long(points.size());
    constexpr float none = -1;
    std::vector<float> climbed(count, none);  // single precision: 1e-7 of a length
    std::vector<Arc> found(elements);
    Directions directions = steepest(lattice, field, alone(lattice, threads));
    measure(lattice, field, directions.up, 1.0, count, points, threads,
            [&](long m, double length) { climbed[m] = float(length); });
    directions.up = {};
    measure(lattice, field, directions.down, -1.0, count, points, threads, [&](long m, double length) {
        if (climbed[m] == none) return;
        Arc& arc = found[labels[points.empty() ? m : points[m]]];
        const long whole = std::lround((climbed[m] + length) * arcs_a_width);
        std::atomic_ref(arc.length).fetch_add(whole, std::memory_order_relaxed);
        std::atomic_ref(arc.lines).fetch_add(1, std::memory_order_relaxed);
    });
    return found;
}

template std::vector<Arc> arcs<float>(const Lattice&, const float*, const Label*, const std::vector<long>&, long, int);
template std::vector<Arc> arcs<double>(const Lattice&, const double*, const Label*, const std::vector<long>&, long,
                                       int);

}  // namespace nearfield::elements
