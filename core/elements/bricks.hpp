// Points of the grid in bricks, as long along each axis: lines that begin in one of them run through one part of the field,
// which stays in the cache nearest to the processor.
#pragma once

#include <algorithm>

#include "lattice.hpp"

namespace nearfield::elements {

class Bricks {
public:
    // Of so many points at most, for those from `first` to `last`: whole rows.
    Bricks(const Lattice& lattice, long points, long first, long last)
        : lattice(lattice), first(first), last(last), edge(edge_of(lattice, points)) {
        const long plane = lattice.n[1] * lattice.n[2];
        begin = first / plane;
        count[0] = parts((last + plane - 1) / plane - begin);
        for (int axis = 1; axis < 3; ++axis) count[axis] = parts(lattice.n[axis]);
    }

    long size() const { return count[0] * count[1] * count[2]; }

    // The points of a brick, in ascending order.
    template <class Work>
    void each(long number, const Work& work) const {
        const long x = begin + number / (count[1] * count[2]) * edge, y = number / count[2] % count[1] * edge,
                   z = number % count[2] * edge;
        const Place end{std::min(x + edge, lattice.n[0]), std::min(y + edge, lattice.n[1]),
                        std::min(z + edge, lattice.n[2])};
        for (long i = x; i < end[0]; ++i)
            for (long j = y; j < end[1]; ++j) {
                const long row = lattice.index({i, j, 0});
                if (row < first || row >= last) continue;
                for (long k = z; k < end[2]; ++k) work(row + k);
            }
    }

private:
    static long edge_of(const Lattice& lattice, long points) {
        const auto long_axes = std::count_if(lattice.n.begin(), lattice.n.end(), [](long n) { return n > 1; });
        long edge = 1;
        const auto fits = [&](long wide) {
            long size = 1;
            for (int axis = 0; axis < int(long_axes); ++axis) size *= wide;
            return long_axes > 0 && size <= points;
        };
        while (fits(edge + 1)) ++edge;
        return edge;
    }
    long parts(long points) const { return (points + edge - 1) / edge; }

    const Lattice& lattice;
    long first, last, edge, begin;
    Place count;
};

}  // namespace nearfield::elements
