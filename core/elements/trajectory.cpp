#include "elements/trajectory.hpp"

#include <algorithm>
#include <atomic>
#include <stdexcept>

#include "elements/analysis.hpp"
#include "elements/steepest.hpp"
#include "elements/tracer.hpp"
#include "schedule/loop.hpp"

namespace nearfield::elements {

namespace {

constexpr long batch = 64;  // lines of a chunk of work

struct Trail {
    static constexpr bool whole = true, kept = true;
    std::vector<Walk> walks;
    void clear() { walks.clear(); }
    void add(const Walk& walk) { walks.push_back(walk); }
    void advance(double) {}
};

// A line one way, and the point of its extremum.
struct Half {
    std::vector<Point> places;
    std::vector<double> values;
    long end = -1;
    bool resolved = false;
};

template <class T>
std::vector<Half> halves(const Lattice& lattice, const std::array<Axis<T>, 3>& axes, const T* field, double sign,
                         const Numbers<std::uint8_t>& towards, const std::vector<long>& points, int threads) {
    const Team team = alone(lattice, threads);
    const auto summits = ends(towards, team);
    const auto labels = followed(lattice, towards, summits, team, "");
    const auto extrema = refined(lattice, axes, field, summits);
    const Task<T> task{lattice, axes, field, sign, labels.data(), extrema.data()};
    const Tracer<T, Trail> tracer(task);
    const Captures<T> captures(task);
    const auto unfolded = [&](Point place, const Place& image) {
        for (int axis = 0; axis < 3; ++axis) place[axis] += double(image[axis]) * axes[axis].length;
        return place;
    };
    std::vector<Half> found(points.size());
    in_chunks(long(points.size()), batch, threads, [&](long first, long last) {
        std::array<Label, batch> stops;
        std::array<Trail, batch> trails;
        tracer.follow(points.data() + first, last - first, stops.data(), trails.data());
        for (long m = 0; m < last - first; ++m) {
            Half& half = found[first + m];
            for (const Walk& walk : trails[m].walks) {
                half.places.push_back(unfolded(walk.at, walk.image));
                half.values.push_back(sign * walk.value);
            }
            half.resolved = stops[m] != unknown;
            if (!half.resolved) stops[m] = captures.beside(trails[m].walks.back());
            if (stops[m] == unknown) continue;  // the line winds around the box too often
            const Extremum& extremum = extrema[rank_of(stops[m])];
            half.end = extremum.index;
            if (!half.resolved) continue;
            half.places.push_back(unfolded(extremum.place, image_of(stops[m])));
            half.values.push_back(extremum.value);
        }
    });
    return found;
}

}  // namespace

template <class T>
std::vector<Trajectory> trajectories(const Lattice& lattice, const T* field, const std::vector<long>& points,
                                     int threads) {
    const auto axes = axes_of<T>(lattice);
    const Directions directions = steepest(lattice, field, alone(lattice, threads));
    const auto up = halves(lattice, axes, field, 1.0, directions.up, points, threads);
    const auto down = halves(lattice, axes, field, -1.0, directions.down, points, threads);
    std::vector<Trajectory> found(points.size());
    for (std::size_t m = 0; m < points.size(); ++m) {
        Trajectory& whole = found[m];
        whole.places.assign(down[m].places.rbegin(), down[m].places.rend());
        whole.values.assign(down[m].values.rbegin(), down[m].values.rend());
        whole.start = long(whole.places.size()) - 1;
        whole.places.insert(whole.places.end(), up[m].places.begin() + 1, up[m].places.end());
        whole.values.insert(whole.values.end(), up[m].values.begin() + 1, up[m].values.end());
        whole.maximum = up[m].end, whole.minimum = down[m].end;
        whole.unresolved = !up[m].resolved + !down[m].resolved;
    }
    return found;
}

template <class T>
std::vector<double> interpolated(const Lattice& lattice, const T* field, const std::vector<Point>& places) {
    const auto axes = axes_of<T>(lattice);
    const auto around = terrain(axes, field, 1.0);
    const auto& kernels = kernels_for<T>();
    std::vector<double> found;
    for (std::size_t first = 0; first < places.size(); first += lanes) {
        const long count = std::min<long>(lanes, places.size() - first);
        double at[3][lanes];
        for (int axis = 0; axis < 3; ++axis)
            for (long m = 0; m < count; ++m) at[axis][m] = places[first + m][axis];
        Slopes made;
        kernels.slopes(around, at, count, made);
        found.insert(found.end(), made.value, made.value + count);
    }
    return found;
}

template std::vector<Trajectory> trajectories<float>(const Lattice&, const float*, const std::vector<long>&, int);
template std::vector<Trajectory> trajectories<double>(const Lattice&, const double*, const std::vector<long>&, int);
template std::vector<double> interpolated<float>(const Lattice&, const float*, const std::vector<Point>&);
template std::vector<double> interpolated<double>(const Lattice&, const double*, const std::vector<Point>&);

}  // namespace nearfield::elements
