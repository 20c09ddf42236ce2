#include "solids/distance.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "schedule/loop.hpp"

namespace nearfield {
namespace {

constexpr long leaf = 4;            // facets at most
constexpr double spare = 1 - 1e-9;  // on distances of boxes, so that rounding never hides the nearest facet

Point minus(const Point& a, const Point& b) { return {a[0] - b[0], a[1] - b[1], a[2] - b[2]}; }
double dot(const Point& a, const Point& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }
Point cross(const Point& a, const Point& b) {
    return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}

// Squares, of products that vanish exactly where p lies on an axis-parallel line or plane.
double to_edge(const Point& a, const Point& b, const Point& p) {
    const Point along = minus(b, a), from = minus(p, a);
    const double length = dot(along, along), part = dot(along, from);
    if (part <= 0) return dot(from, from);
    if (part >= length) return dot(minus(p, b), minus(p, b));
    const Point area = cross(along, from);
    return dot(area, area) / length;
}
double to_facet(const Point (&c)[3], const Point& p) {
    const Point n = cross(minus(c[1], c[0]), minus(c[2], c[0]));
    bool over = dot(n, n) > 0;
    for (int k = 0; k < 3 && over; ++k) over = dot(cross(minus(c[(k + 1) % 3], c[k]), minus(p, c[k])), n) >= 0;
    if (over) {
        const double height = dot(n, minus(p, c[0]));
        return height * height / dot(n, n);
    }
    return std::min({to_edge(c[0], c[1], p), to_edge(c[1], c[2], p), to_edge(c[2], c[0], p)});
}
double to_box(const Point& lower, const Point& upper, const Point& p) {
    double square = 0;
    for (int a = 0; a < 3; ++a) {
        const double beyond = std::max({lower[a] - p[a], p[a] - upper[a], 0.0});
        square += beyond * beyond;
    }
    return square;
}

}  // namespace

Distance::Distance(const std::vector<Point>& corners, const std::vector<TriangleCorners>& triangles, double unit)
    : unit_(unit) {
    std::vector<Box> boxes;
    for (const auto& t : triangles) {
        const Point &a = corners[t[0]], &b = corners[t[1]], &c = corners[t[2]];
        Box box;
        for (int k = 0; k < 3; ++k)
            box.lower[k] = std::min({a[k], b[k], c[k]}), box.upper[k] = std::max({a[k], b[k], c[k]});
        boxes.push_back(box);
    }
    std::vector<long> order(triangles.size());
    std::iota(order.begin(), order.end(), 0L);
    grow(order, boxes, 0, static_cast<long>(order.size()));
    for (const long n : order) {
        const auto& t = triangles[n];
        facets_.push_back({{corners[t[0]], corners[t[1]], corners[t[2]]}});
    }
    blocks_ = std::clamp<long>(std::lround(2 * std::sqrt(double(facets_.size()))), 16, 64);
    for (int a = 0; a < 3; ++a) pitch_[a] = (nodes_[0].box.upper[a] - nodes_[0].box.lower[a]) / blocks_;
    reach_ = 0.5 * std::sqrt(dot(pitch_, pitch_));
}

void Distance::grow(std::vector<long>& order, const std::vector<Box>& boxes, long begin, long end) {
    Box all = boxes[order[begin]];
    for (long n = begin; n < end; ++n)
        for (int a = 0; a < 3; ++a) {
            all.lower[a] = std::min(all.lower[a], boxes[order[n]].lower[a]);
            all.upper[a] = std::max(all.upper[a], boxes[order[n]].upper[a]);
        }
    const long own = static_cast<long>(nodes_.size());
    nodes_.push_back({all, begin, end - begin});
    if (end - begin <= leaf) return;
    const Point size = minus(all.upper, all.lower);
    const int axis = static_cast<int>(std::max_element(size.begin(), size.end()) - size.begin());
    const long middle = (begin + end) / 2;
    std::nth_element(order.begin() + begin, order.begin() + middle, order.begin() + end, [&](long a, long b) {
        const double first = boxes[a].lower[axis] + boxes[a].upper[axis],
                     second = boxes[b].lower[axis] + boxes[b].upper[axis];
        return first < second || (first == second && a < b);
    });
    grow(order, boxes, begin, middle);
    nodes_[own].first = static_cast<long>(nodes_.size()), nodes_[own].count = 0;
    grow(order, boxes, middle, end);
}

// At least `share` of the distance and at most all of it. In the middle of a ball all facets are nearest; a share below
// one spares asking them all.
double Distance::nearest(const Point& p, double share) const {
    double best = std::numeric_limits<double>::infinity();
    struct Place {
        long node;
        double square;
    } waiting[128];  // halving leaves a tree of 64 levels at most
    int count = 0;
    waiting[count++] = {0, 0.0};
    const auto square_of = [&](long n) { return to_box(nodes_[n].box.lower, nodes_[n].box.upper, p) * spare; };
    while (count) {
        const Place place = waiting[--count];
        if (place.square > best * share * share) continue;
        const Node& node = nodes_[place.node];
        for (long n = node.first; n < node.first + node.count; ++n)
            best = std::min(best, to_facet(facets_[n].corner, p));
        if (node.count) continue;
        Place near{place.node + 1, square_of(place.node + 1)}, far{node.first, square_of(node.first)};
        if (far.square < near.square) std::swap(near, far);
        if (far.square <= best) waiting[count++] = far;
        if (near.square <= best) waiting[count++] = near;
    }
    const double found = std::sqrt(best) * share;
    return found < unit_ ? 0.0 : found;
}

// By the triangle inequality from the centre of the point's block, where that says enough; else the distance.
double Distance::bound(const Point& p) const {
    const Box& all = nodes_[0].box;
    const double outside = std::sqrt(to_box(all.lower, all.upper, p)) * spare;
    if (outside > 0) return outside >= reach_ ? outside : nearest(p);
    long block = 0;
    Point centre;
    for (int a = 0; a < 3; ++a) {
        const double part = (p[a] - all.lower[a]) / pitch_[a];
        const long n = part > 0 ? std::min(static_cast<long>(part), blocks_ - 1) : 0;  // 0 also for what is no number
        centre[a] = all.lower[a] + (n + 0.5) * pitch_[a];
        block = block * blocks_ + n;
    }
    const Point away = minus(p, centre);
    const double found = (middle_[block] - std::sqrt(dot(away, away))) * spare;
    return found >= reach_ ? found : nearest(p);
}

void Distance::ask_middles(int threads) {
    middle_.resize(blocks_ * blocks_ * blocks_);
    in_chunks(middle_.size(), 512, threads, [&](long begin, long end) {
        for (long n = begin; n < end; ++n) {
            const long index[] = {n / (blocks_ * blocks_), n / blocks_ % blocks_, n % blocks_};
            Point centre;
            for (int a = 0; a < 3; ++a) centre[a] = nodes_[0].box.lower[a] + (index[a] + 0.5) * pitch_[a];
            middle_[n] = nearest(centre, 0.9);
        }
    });
}

void Distance::lattice(const Coordinates& at, double* found, int threads) {
    std::call_once(*made_, [&] { ask_middles(threads); });
    const long ny = at[1].size(), nz = at[2].size();
    in_chunks(at[0].size() * ny, std::max(1L, 1024 / std::max(nz, 1L)), threads, [&](long begin, long end) {
        for (long n = begin; n < end; ++n)
            for (long k = 0; k < nz; ++k) found[n * nz + k] = bound({at[0][n / ny], at[1][n % ny], at[2][k]});
    });
}

void Distance::points(const Coordinates& at, double* found, int threads) {
    std::call_once(*made_, [&] { ask_middles(threads); });
    in_chunks(at[0].size(), 1024, threads, [&](long begin, long end) {
        for (long n = begin; n < end; ++n) found[n] = bound({at[0][n], at[1][n], at[2][n]});
    });
}

}  // namespace nearfield
