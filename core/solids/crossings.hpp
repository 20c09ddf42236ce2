// Which points a closed surface of triangles holds, by exact arithmetic.
//
// Coordinates become whole multiples of 2^-40 of the surface's extent, and every predicate is a determinant of whole
// numbers below 2^123. A point that would lie on a surface, on an edge or at a corner is moved by (e, e^2, e^3), e
// infinitely small, in thought (Edelsbrunner and Muecke, ACM Trans. Graphics 9, 66, 1990): a ray along any axis then
// crosses triangles in their interior alone, each surface once, and rays along all axes agree. Inside is where the
// winding number, the sum of the crossings' signs on one side, is not zero: shells may be nested, overlap or coincide.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace nearfield {

using Point = std::array<double, 3>;
using WholePoint = std::array<std::int64_t, 3>;
using TriangleCorners = std::array<std::int32_t, 3>;
using Coordinates = std::array<std::span<const double>, 3>;  // x, y, z

class Crossings {
public:
    // `closed[a]`: whether rays along axis a may be asked; the walls of a tube are open at its ends.
    Crossings(const std::vector<Point>& corners, const std::vector<TriangleCorners>& triangles,
              std::array<bool, 3> closed);

    double unit() const { return 1.0 / per_metre_; }  // m
    // Of the lattice of three lists of coordinates; `inside` is [x][y][z].
    void lattice(const Coordinates& at, bool* inside, int threads) const;
    // Of single points; successive ones with equal x and y share a ray.
    void points(const Coordinates& at, bool* inside, int threads) const;

private:
    struct Triangle {
        WholePoint corner[3];
    };
    // Triangles by the squares of a plane across an axis that they may touch.
    struct Plane {
        int u, v;
        std::array<long, 2> squares;
        std::array<double, 2> per_unit;
        std::vector<std::uint32_t> begin, triangle;
        long square(int side, std::int64_t place) const {
            return static_cast<long>(static_cast<double>(place) * per_unit[side]);
        }
    };

    Plane plane(int axis) const;
    template <class Found>
    void squares_of(const Plane& plane, const Triangle& triangle, const Found& found) const;
    WholePoint whole(const Point& point) const;
    std::int64_t whole(int axis, double place) const;
    bool within(int axis, std::int64_t place) const { return place >= 0 && place <= extent_[axis]; }
    template <class Found>
    void along(int axis, const WholePoint& at, const Found& found) const;
    void row(int axis, WholePoint at, std::span<const std::int64_t> places, std::vector<int>& winding) const;

    Point lower_{};
    double per_metre_ = 1.0;
    WholePoint extent_{};
    std::array<bool, 3> closed_;
    std::vector<Triangle> triangles_;
    std::array<Plane, 3> planes_;
};

}  // namespace nearfield
