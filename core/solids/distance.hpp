// How far a surface of triangles is, by a tree of boxes. Every answer depends on its point alone, not on the order in
// which points are asked: ranks and threads see the same numbers.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "solids/crossings.hpp"

namespace nearfield {

class Distance {
public:
    // Distances below `unit` (m) are zero.
    Distance(const std::vector<Point>& corners, const std::vector<TriangleCorners>& triangles, double unit);

    // Near the surface its distance; far from it a bound that is at least a block of the bounds' 16^3 to 64^3 wide.
    void lattice(const Coordinates& at, double* found, int threads);
    void points(const Coordinates& at, double* found, int threads);

private:
    struct Facet {
        Point corner[3];
    };
    struct Box {
        Point lower, upper;
    };
    struct Node {
        Box box;
        long first, count;  // facets of a leaf; `count` 0: the children are the next node and number `first`
    };

    void grow(std::vector<long>& order, const std::vector<Box>& boxes, long begin, long end);
    double nearest(const Point& p, double share = 1) const;
    double bound(const Point& p) const;
    void ask_middles(int threads);

    double unit_;
    std::vector<Facet> facets_;
    std::vector<Node> nodes_;
    long blocks_;
    Point pitch_;
    double reach_;                // half the diagonal of a block
    std::vector<double> middle_;  // bound of the distance of each block's centre; made when first needed
    std::unique_ptr<std::once_flag> made_ = std::make_unique<std::once_flag>();
};

}  // namespace nearfield
