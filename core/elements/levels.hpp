// Points of the grid in levels: every eighth along each axis, every fourth, and so on to all.
#pragma once

#include <algorithm>
#include <vector>

#include "lattice.hpp"

namespace nearfield::elements {

class Level {
public:
    // Every `stride`-th point along each axis, and the last of an axis with walls; on periodic axes counted from `origin`.
    Level(const Lattice& lattice, const Place& origin, long stride) : lattice(lattice) {
        for (int axis = 0; axis < 3; ++axis) {
            const long n = lattice.n[axis];
            const auto place = [&](long at) {
                const long image = at < 0 ? -1 : at / n;
                return Beside{at - image * n, image};
            };
            for (long at = 0; at < n; ++at) {
                if (lattice.periodic[axis]) {
                    const long from = (at + n - origin[axis]) % n, low = from / stride * stride;
                    beside[0][axis].push_back(place(at - from + low));
                    beside[1][axis].push_back(place(at - from + std::min(low + stride, n)));
                } else {
                    const long low = at == n - 1 ? at : at / stride * stride;
                    beside[0][axis].push_back(place(low));
                    beside[1][axis].push_back(place(std::min(low + stride, n - 1)));
                }
            }
        }
    }

    bool holds(const Place& at) const { return on(0, at[0]) && on(1, at[1]) && on(2, at[2]); }

    // Its points among those from `first` to `last`, whole rows, in ascending order.
    template <class Work>
    void each(long first, long last, const Work& work) const {
        for (long row = first; row < last; row += lattice.n[2]) {
            Place at = lattice.place(row);
            if (!on(0, at[0]) || !on(1, at[1])) continue;
            for (; at[2] < lattice.n[2]; ++at[2])
                if (on(2, at[2])) work(row + at[2], at);
        }
    }

    // The label of all points of this level next to one between them, as seen from it; `unknown` where they differ.
    Label between(const Label* labels, const Place& at) const {
        return common(labels, at, (on(0, at[0]) ? 0 : 1) | (on(1, at[1]) ? 0 : 2) | (on(2, at[2]) ? 0 : 4));
    }
    // The same of the corners of the level's cell that holds the cell of the grid that begins at a point.
    Label around(const Label* labels, const Place& low) const { return common(labels, low, 7); }

private:
    struct Beside {
        long at, image;  // of the box
    };

    bool on(int axis, long at) const { return beside[0][axis][at].at == at && beside[0][axis][at].image == 0; }

    // `axes`: those along which the points on both sides count.
    Label common(const Label* labels, const Place& at, int axes) const {
        Label found = unknown;
        for (int corner = 0; corner < 8; ++corner) {
            if (corner & ~axes) continue;
            Place place, image;
            for (int axis = 0; axis < 3; ++axis) {
                const Beside& of = beside[corner >> axis & 1][axis][at[axis]];
                place[axis] = of.at;
                image[axis] = of.image;
            }
            const Label label = moved(labels[lattice.index(place)], image);
            if (label == unknown || (corner > 0 && label != found)) return unknown;
            found = label;
        }
        return found;
    }

    const Lattice& lattice;
    std::vector<Beside> beside[2][3];  // the level's points below and above each place
};

}  // namespace nearfield::elements
