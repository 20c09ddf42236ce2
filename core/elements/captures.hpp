// Where a line along the gradient has come to, and whether it must end at an extremum.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "cells.hpp"
#include "extrema.hpp"
#include "levels.hpp"
#include "trapping.hpp"

namespace nearfield::elements {

constexpr double snap = 0.5;      // widths from a refined extremum along each axis
constexpr double near_end = 1.5;  // the same, of a line that goes no further

struct Walk {
    Point at;     // within the box
    Place image;  // of the box, as seen from the start
    double value, steep;
    Point gradient;  // of the field upwards, of its negative downwards; `steep` is its length
};

// What ends lines before they come to an extremum, by either or by none.
struct Known {
    const std::uint8_t* cells = nullptr;  // of trapping.hpp, of the labels of steepest neighbours
    const double* thresholds = nullptr;   // of an extremum, the value above which no other lies ahead
    const Level* level = nullptr;         // where the corners of a cell have one label, all of it has
    const Label* found = nullptr;         // at the points of that level
    int blind = 0;                        // first steps that do not look at it
};

// What all lines of one direction share.
template <class T>
struct Task {
    const Lattice& lattice;
    const std::array<Axis<T>, 3>& axes;
    const T* field;
    double sign;                                              // of the field upwards 1, downwards -1
    const Label* labels;                                      // of the ends of the paths of steepest neighbours
    const Extremum* extrema;                                  // places in units of the smallest width
    double widest = std::numeric_limits<double>::infinity();  // no less than any difference of two values
    Known known = {};
};

template <class T>
class Captures {
public:
    explicit Captures(const Task<T>& task) : task(task) {}

    Place cell_of(const Walk& walk) const {
        Place low;
        for (int axis = 0; axis < 3; ++axis) low[axis] = task.axes[axis].cell_at(walk.at[axis]);
        return low;
    }

    // The extremum where a line in the cell `low` must end, or beside which it is.
    Label captured(const Walk& walk, const Place& low, int steps) const {
        const Label label = ahead(walk.value, low, steps);
        return label == unknown ? within(walk, low, snap) : moved(label, walk.image);
    }

    // The only extremum that lies ahead of all lines in a cell: one that none leaves, or whose corners belong to one region,
    // above the highest value at which any other begins.
    Label ahead(double value, const Place& low, int steps) const {
        const Known& known = task.known;
        if (known.level && steps >= known.blind) return known.level->around(known.found, low);
        if (!known.cells) return unknown;
        const long index = task.lattice.index(low);
        const Label label = task.labels[index];
        const std::uint8_t cell = known.cells[index];
        return cell & trapped || (cell & whole && value > known.thresholds[rank_of(label)]) ? label : unknown;
    }

    // Whether the extremum of a point of the grid is known before a line starts there.
    bool settled(long index, double value) const {
        const Known& known = task.known;
        return known.cells && (known.cells[index] & trapped || value > known.thresholds[rank_of(task.labels[index])]);
    }

    // The extremum beside the line.
    Label reached(const Walk& walk, const Place& low) const { return within(walk, low, snap); }

    // A line that goes no further has come to an extremum, or to a saddle.
    Label stalled(const Walk& walk) const { return within(walk, cell_of(walk), near_end); }

    // The extremum to which steepest neighbours lead from the point nearest to the line.
    Label beside(const Walk& walk) const {
        const Site point = nearest(walk, cell_of(walk));
        return moved(task.labels[point.index], point.image);
    }

private:
    Label within(const Walk& walk, const Place& low, double most) const {
        const Site point = nearest(walk, low);
        const Label label = task.labels[point.index];
        const Point& place = task.extrema[rank_of(label)].place;
        for (int axis = 0; axis < 3; ++axis) {  // far from all images of it, most often
            const double far = std::abs(walk.at[axis] - place[axis]);
            const double nearest = std::min(far, std::abs(task.axes[axis].length - far));
            if (nearest * task.axes[axis].cells[low[axis]].per_length > 2 * most) return unknown;
        }
        const Place shift = image_of(label);
        for (int axis = 0; axis < 3; ++axis) {
            const double turns = double(shift[axis] + point.image[axis] - walk.image[axis]);
            const double far = walk.at[axis] - (place[axis] + turns * task.axes[axis].length);
            if (std::abs(far) * task.axes[axis].cells[low[axis]].per_length > most) return unknown;
        }
        return moved(label, point.image);
    }

    // The point of the grid nearest to a walk within a cell, as seen from its start.
    Site nearest(const Walk& walk, const Place& low) const {
        Place at = low, image = walk.image;
        for (int axis = 0; axis < 3; ++axis) {
            const Cell& cell = task.axes[axis].cells[low[axis]];
            at[axis] += (walk.at[axis] - cell.begin) * cell.per_length >= 0.5;
            if (at[axis] < task.lattice.n[axis]) continue;
            at[axis] = 0;  // of a periodic axis
            ++image[axis];
        }
        return {task.lattice.index(at), image};
    }

    const Task<T>& task;
};

}  // namespace nearfield::elements
