#include "elements/analysis.hpp"

#include <stdexcept>

#include "elements/hybrid.hpp"
#include "elements/persistence.hpp"
#include "elements/steepest.hpp"
#include "elements/trace.hpp"
#include "elements/trapping.hpp"

namespace nearfield::elements {

Method method_of(const std::string& name) {
    if (name == "discrete") return Method::discrete;
    if (name == "trace") return Method::trace;
    if (name == "hybrid") return Method::hybrid;
    throw std::invalid_argument("a method is discrete, trace or hybrid");
}

Team alone(const Lattice& lattice, int threads) {
    return {0, lattice.size(), 0, lattice.size(), threads, "", nullptr, nullptr};
}

template <class T>
Analysis analysed(const Lattice& lattice, const T* field, const Options& options, const Team& team) {
    const auto axes = axes_of<T>(lattice);
    const auto method = options.method;
    const double persistence = options.persistence;
    Analysis made;
    Counts counts;
    Directions directions = steepest(lattice, field, team);
    const bool lines = method != Method::discrete;
    const double widest = lines ? widest_difference(field, team) : 0;
    const auto cells = method == Method::trace ? crossings(lattice, axes, field, team) : Numbers<std::uint8_t>();
    const auto labelled = [&](Numbers<std::uint8_t>& towards, double sign, std::vector<Extremum>& extrema) {
        const auto points = ends(towards, team);
        auto labels = followed(lattice, towards, points, team, sign > 0 ? "up-labels" : "down-labels");
        towards = {};  // its memory too
        extrema = refined(lattice, axes, field, points);
        Simplification simpler;
        if (persistence > 0) simpler = simplified(lattice, field, sign, labels, points, persistence, team);
        if (lines) {
            Lines<T> from(lattice, axes, field, sign, widest, labels, extrema, options.chunk, team);
            auto found = method == Method::trace ? traced(from, cells) : hybrid(from);
            from.count(counts);
            labels = std::move(found);
        }
        if (persistence > 0) {
            team.meet();  // others read labels beside their own points until here
            replace(simpler, labels, team);
            made.simplified += long(points.size() - simpler.stay.size());
            for (std::size_t rank = 0; rank < simpler.stay.size(); ++rank) extrema[rank] = extrema[simpler.stay[rank]];
            extrema.resize(simpler.stay.size());
        }
        return labels;
    };
    auto up = labelled(directions.up, 1.0, made.maxima);
    const auto down = labelled(directions.down, -1.0, made.minima);
    team.meet();
    made.elements = gathered(up, down, team);
    up.share(team);
    made.labels = std::move(up);
    made.traced = counts.traced;
    made.unresolved = counts.unresolved;
    return made;
}

template Analysis analysed<float>(const Lattice&, const float*, const Options&, const Team&);
template Analysis analysed<double>(const Lattice&, const double*, const Options&, const Team&);

}  // namespace nearfield::elements
