// Lines along the gradient from many points of the grid, brick by brick, by all threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <string>
#include <vector>

#include "bricks.hpp"
#include "schedule/replicas.hpp"
#include "team.hpp"
#include "tracer.hpp"

namespace nearfield::elements {

// How many lines were followed, and how many of them came to no extremum.
struct Counts {
    long traced = 0, unresolved = 0;
};

// One direction, upwards (sign 1) or downwards (-1). `labels` are the ends of the paths of steepest neighbours; no two
// values differ by more than `widest`; a thread keeps the ends of `chunk` lines before it writes them to their places.
template <class T>
class Lines {
public:
    Lines(const Lattice& lattice, const std::array<Axis<T>, 3>& axes, const T* field, double sign, double widest,
          const Numbers<Label>& labels, const std::vector<Extremum>& extrema, long chunk, const Team& team)
        : lattice(lattice), axes(axes), field(field), sign(sign), widest(widest), labels(labels), extrema(extrema),
          team(team), side(sign > 0 ? "up" : "down"), layout(schedule::this_machine(team.threads)),
          near_extrema(extrema, layout), bricks(lattice, chunk, team.first, team.last) {}

    // From those of the team's own points that `chosen(p)` takes; `ended(points, ends)` gets them by chunks of so many
    // bricks. `known()` is asked by each thread.
    template <class Asked, class Chosen, class Ended>
    void from(long together, const Asked& known, const Chosen& chosen, const Ended& ended) {
        in_chunks(bricks.size(), together, team.threads, [&](long first, long last) {
            const Task<T> task{lattice, axes, field, sign, labels.data(), near_extrema.here(), widest, known()};
            const Tracer<T> tracer(task);
            std::vector<long> points;
            for (long brick = first; brick < last; ++brick)
                bricks.each(brick, [&](long p) {
                    if (chosen(p)) points.push_back(p);
                });
            std::vector<Label> ends(points.size());
            tracer.follow(points.data(), long(points.size()), ends.data());
            traced += long(points.size());
            unresolved += std::count(ends.begin(), ends.end(), unknown);
            ended(points, ends);
        });
    }

    void count(Counts& counts) const {
        counts.traced += team.sum(traced);
        counts.unresolved += team.sum(unresolved);
    }

    const Lattice& lattice;
    const std::array<Axis<T>, 3>& axes;
    const T* field;
    const double sign, widest;
    const Numbers<Label>& labels;
    const std::vector<Extremum>& extrema;
    const Team& team;
    const std::string side;  // of the names of files
    const schedule::Layout layout;

private:
    const schedule::Replicas<Extremum> near_extrema;
    const Bricks bricks;
    std::atomic<long> traced{0}, unresolved{0};
};

}  // namespace nearfield::elements
