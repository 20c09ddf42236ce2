// The grid of a scalar field: axes x, y, z, z fastest; periodic axes close on themselves, others end at their last points.
#pragma once

#include <array>
#include <cstdint>
#include <cstdlib>
#include <vector>

namespace nearfield::elements {

using Place = std::array<long, 3>;
using Point = std::array<double, 3>;

// Directions to a point and its 26 neighbours, numbered (di + 1) * 9 + (dj + 1) * 3 + dk + 1.
constexpr int directions = 27, here = 13;
inline Place step_of(int direction) { return {direction / 9 - 1, direction / 3 % 3 - 1, direction % 3 - 1}; }

// Whether a direction is along one axis.
inline bool is_face(int direction) {
    const Place step = step_of(direction);
    return std::abs(step[0]) + std::abs(step[1]) + std::abs(step[2]) == 1;
}

// A point of the grid, and the image of the box in which it lies.
struct Site {
    long index = 0;
    Place image{};
};

struct Lattice {
    Place n;
    std::array<std::vector<double>, 3>
        widths;  // from each point of an axis to its next; of periodic axes as many as points
    std::array<bool, 3> periodic;

    long size() const { return n[0] * n[1] * n[2]; }
    long index(const Place& at) const { return (at[0] * n[1] + at[1]) * n[2] + at[2]; }
    Place place(long index) const { return {index / (n[1] * n[2]), index / n[2] % n[1], index % n[2]}; }

    void to_next(Place& at) const {
        for (int axis = 2; ++at[axis] == n[axis] && axis > 0; --axis) at[axis] = 0;
    }

    // Whether the point has a neighbour that way along one axis.
    bool open(int axis, long at, int step) const { return periodic[axis] || (step < 0 ? at > 0 : at + 1 < n[axis]); }
    // Distance to that neighbour.
    double width(int axis, long at, int step) const {
        const long cell = step < 0 ? at - 1 : at;
        return widths[axis][cell < 0 ? cell + n[axis] : cell];
    }

    // The point `step` away, with the image it lies in; false where the box ends.
    bool neighbour(const Place& at, const Place& step, Site& found) const {
        Place to;
        for (int axis = 0; axis < 3; ++axis) {
            to[axis] = at[axis] + step[axis];
            found.image[axis] = 0;
            if (to[axis] >= 0 && to[axis] < n[axis]) continue;
            if (!periodic[axis]) return false;
            found.image[axis] = to[axis] < 0 ? -1 : 1;
            to[axis] -= found.image[axis] * n[axis];
        }
        found.index = index(to);
        return true;
    }
};

// An extremum by its number, in one of the images of the box around the point that bears the label.
using Label = std::uint32_t;
constexpr long reach = 2, across = 2 * reach + 1, images = across * across * across;  // images told apart
constexpr Label unknown = ~Label{0};
constexpr long most_extrema = (long(unknown) - images) / images;

inline long rank_of(Label label) { return label / images; }
inline Place image_of(Label label) {
    const long code = label % images;
    return {code / (across * across) - reach, code / across % across - reach, code % across - reach};
}
inline Label label_of(long rank, const Place& image) {
    return Label(rank * images + ((image[0] + reach) * across + image[1] + reach) * across + image[2] + reach);
}

// The label as seen from another image; `unknown` where the path has wound around the box too often.
inline Label moved(Label label, const Place& by) {
    if (!(by[0] | by[1] | by[2])) return label;
    Place image = image_of(label);
    for (int axis = 0; axis < 3; ++axis) {
        image[axis] += by[axis];
        if (std::abs(image[axis]) > reach) return unknown;
    }
    return label_of(rank_of(label), image);
}

}  // namespace nearfield::elements
