#include "elements/analysis.hpp"

#include <stdexcept>

#include "elements/steepest.hpp"
#include "elements/trace.hpp"

namespace nearfield::elements {

namespace {

std::vector<Label> followed(const Lattice& lattice, const std::vector<std::uint8_t>& directions,
                            const std::vector<long>& extrema, int threads) {
    if (long(extrema.size()) > most_extrema) throw std::length_error("more extrema than labels can number");
    std::vector<Label> labels;
    if (!follow(lattice, directions, extrema, labels, threads))
        throw std::range_error("a path winds around the box more than twice");
    return labels;
}

}  // namespace

Method method_of(const std::string& name) {
    if (name == "discrete") return Method::discrete;
    if (name == "trace") return Method::trace;
    if (name == "hybrid") return Method::hybrid;
    throw std::invalid_argument("a method is discrete, trace or hybrid");
}

template <class T>
Analysis analysed(const Lattice& lattice, const T* field, Method method, int threads) {
    const auto axes = axes_of<T>(lattice);
    Analysis made;
    Counts counts;
    Directions directions = steepest(lattice, field, threads);
    const auto labelled = [&](std::vector<std::uint8_t>& towards, double sign, std::vector<Extremum>& extrema) {
        const auto points = ends(lattice, towards, threads);
        auto labels = followed(lattice, towards, points, threads);
        std::vector<std::uint8_t>().swap(towards);  // its memory too
        extrema = refined(lattice, axes, field, points);
        if (method == Method::discrete) return labels;
        return traced(lattice, axes, field, sign, labels, extrema, {method == Method::trace, threads}, counts);
    };
    auto up = labelled(directions.up, 1.0, made.maxima);
    const auto down = labelled(directions.down, -1.0, made.minima);
    made.elements = gathered(up, down, threads);
    made.labels = std::move(up);
    made.traced = counts.traced;
    made.unresolved = counts.unresolved;
    return made;
}

template Analysis analysed<float>(const Lattice&, const float*, Method, int);
template Analysis analysed<double>(const Lattice&, const double*, Method, int);

}  // namespace nearfield::elements
