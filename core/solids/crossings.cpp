#include "solids/crossings.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "schedule/loop.hpp"

namespace nearfield {
namespace {

using Wide = __int128;
constexpr int digits = 40;           // binary, of the extent: determinants of three differences stay below 2^123
constexpr int most_squares = 2048;   // along each side of a plane
constexpr long wanted_entries = 12;  // squares that a triangle may touch on the average

int sign(Wide value) { return (value > 0) - (value < 0); }

// On which side of the line from a to b the moved point lies: 1 left, -1 right, 0 where a and b are one point.
int side(const WholePoint& a, const WholePoint& b, const WholePoint& p, int u, int v) {
    const std::int64_t du = b[u] - a[u], dv = b[v] - a[v];
    const int found = sign(Wide(du) * (p[v] - a[v]) - Wide(dv) * (p[u] - a[u]));
    if (found) return found;
    return dv ? -sign(dv) : sign(du);  // u is the earlier axis: it moves further
}

std::array<Wide, 3> normal(const WholePoint (&c)[3]) {
    std::array<Wide, 3> a, b, n;
    for (int axis = 0; axis < 3; ++axis) a[axis] = c[1][axis] - c[0][axis], b[axis] = c[2][axis] - c[0][axis];
    for (int axis = 0; axis < 3; ++axis) {
        const int next = (axis + 1) % 3, last = (axis + 2) % 3;
        n[axis] = a[next] * b[last] - a[last] * b[next];
    }
    return n;
}

// Whether the moved point lies below a triangle that its line along `axis` crosses; `turn` is the sign of the normal.
bool below(const WholePoint (&c)[3], int turn, const WholePoint& p, int axis) {
    const auto [low, high] = std::minmax({c[0][axis], c[1][axis], c[2][axis]});
    if (p[axis] < low || p[axis] > high) return p[axis] < low;
    const auto n = normal(c);
    Wide height = 0;
    for (int a = 0; a < 3; ++a) height += n[a] * (p[a] - c[0][a]);
    return sign(height ? height : n[0] ? n[0] : n[1] ? n[1] : n[2]) == -turn;
}

}  // namespace

Crossings::Crossings(const std::vector<Point>& corners, const std::vector<TriangleCorners>& triangles,
                     std::array<bool, 3> closed)
    : closed_(closed) {
    Point upper;
    lower_.fill(std::numeric_limits<double>::infinity()), upper.fill(-lower_[0]);
    for (const auto& corner : corners)
        for (int a = 0; a < 3; ++a)
            lower_[a] = std::min(lower_[a], corner[a]), upper[a] = std::max(upper[a], corner[a]);
    double size = 0;
    for (int a = 0; a < 3; ++a) size = std::max(size, upper[a] - lower_[a]);
    int exponent = 0;
    std::frexp(size, &exponent);
    per_metre_ = std::ldexp(1.0, digits - exponent);
    for (int a = 0; a < 3; ++a) extent_[a] = std::llrint((upper[a] - lower_[a]) * per_metre_);
    triangles_.reserve(triangles.size());
    for (const auto& t : triangles)
        triangles_.push_back({whole(corners[t[0]]), whole(corners[t[1]]), whole(corners[t[2]])});
    for (int a = 0; a < 3; ++a)
        if (closed_[a]) planes_[a] = plane(a);
}

std::int64_t Crossings::whole(int axis, double place) const {
    const double scaled = (place - lower_[axis]) * per_metre_;
    if (!(scaled > -1.0)) return -1;  // nor a number
    return scaled < std::ldexp(1.0, digits + 1) ? std::llrint(scaled) : std::int64_t(1) << (digits + 1);
}

WholePoint Crossings::whole(const Point& point) const {
    return {whole(0, point[0]), whole(1, point[1]), whole(2, point[2])};
}

// In each row of squares the part of its width that the triangle takes there, so that long slivers touch few squares.
template <class Found>
void Crossings::squares_of(const Plane& plane, const Triangle& triangle, const Found& found) const {
    const int u = plane.u, v = plane.v;
    const auto& c = triangle.corner;
    const auto [low, high] = std::minmax({c[0][v], c[1][v], c[2][v]});
    const long first = plane.square(1, low), last = plane.square(1, high);
    for (long row = first; row <= last; ++row) {
        const double start = row / plane.per_unit[1] - 1.0, stop = (row + 1) / plane.per_unit[1] + 1.0;
        double least = std::numeric_limits<double>::infinity(), most = -least;
        const auto reach = [&](double place) { least = std::min(least, place), most = std::max(most, place); };
        for (int n = 0; n < 3; ++n) {
            const double u0 = c[n][u], v0 = c[n][v], u1 = c[(n + 1) % 3][u], v1 = c[(n + 1) % 3][v];
            if (v0 >= start && v0 <= stop) reach(u0);
            for (const double cut : {start, stop})
                if ((v0 < cut) != (v1 < cut)) reach(u0 + (u1 - u0) * ((cut - v0) / (v1 - v0)));
        }
        if (least > most) continue;
        const auto clipped = [&](double place) { return std::clamp<std::int64_t>(std::llrint(place), 0, extent_[u]); };
        const long begin = plane.square(0, clipped(least - 1.0)), end = plane.square(0, clipped(most + 1.0));
        for (long column = begin; column <= end; ++column) found(row * plane.squares[0] + column);
    }
}

Crossings::Plane Crossings::plane(int axis) const {
    Plane made;
    made.u = axis == 0, made.v = axis == 2 ? 1 : 2;
    const double sides[] = {double(extent_[made.u]) + 1.0, double(extent_[made.v]) + 1.0};
    double pitch = std::sqrt(sides[0] * sides[1] / (2.0 * double(triangles_.size())));
    for (;; pitch *= 2.0) {
        for (int s : {0, 1}) {
            made.squares[s] = std::clamp<long>(std::lround(sides[s] / pitch), 1, most_squares);
            made.per_unit[s] = made.squares[s] / sides[s] * (1.0 - 1e-12);
        }
        made.begin.assign(made.squares[0] * made.squares[1] + 1, 0);
        long entries = 0;
        for (const auto& t : triangles_) squares_of(made, t, [&](long square) { ++made.begin[square + 1], ++entries; });
        if (made.squares[0] * made.squares[1] == 1 || entries <= wanted_entries * long(triangles_.size())) break;
    }
    std::partial_sum(made.begin.begin(), made.begin.end(), made.begin.begin());
    made.triangle.resize(made.begin.back());
    auto next = made.begin;
    for (std::uint32_t t = 0; t < triangles_.size(); ++t)
        squares_of(made, triangles_[t], [&](long square) { made.triangle[next[square]++] = t; });
    return made;
}

// `found(triangle, orientation)` for each triangle that the line along `axis` through the moved point crosses.
template <class Found>
void Crossings::along(int axis, const WholePoint& at, const Found& found) const {
    const Plane& plane = planes_[axis];
    const int u = plane.u, v = plane.v;
    const long square = plane.square(1, at[v]) * plane.squares[0] + plane.square(0, at[u]);
    for (auto n = plane.begin[square]; n < plane.begin[square + 1]; ++n) {
        const auto& c = triangles_[plane.triangle[n]].corner;
        const auto [left, right] = std::minmax({c[0][u], c[1][u], c[2][u]});
        const auto [low, high] = std::minmax({c[0][v], c[1][v], c[2][v]});
        if (at[u] < left || at[u] > right || at[v] < low || at[v] > high) continue;
        const int turn = side(c[0], c[1], at, u, v);
        if (turn && side(c[1], c[2], at, u, v) == turn && side(c[2], c[0], at, u, v) == turn)
            found(triangles_[plane.triangle[n]], axis == 1 ? -turn : turn);  // (x, z) is a left-handed pair
    }
}

// Winding numbers of the points of a row, whose places along `axis` ascend.
void Crossings::row(int axis, WholePoint at, std::span<const std::int64_t> places, std::vector<int>& winding) const {
    winding.assign(places.size() + 1, 0);
    along(axis, at, [&](const Triangle& t, int turn) {
        auto n = normal(t.corner);
        if (n[axis] < 0)
            for (auto& part : n) part = -part;
        const auto& a = t.corner[0];
        Wide rest = 0;  // the plane is where n (place - a) along the axis equals this
        for (int other = 0; other < 3; ++other)
            if (other != axis) rest -= n[other] * (at[other] - a[other]);
        Wide steps = rest / n[axis], left = rest % n[axis];
        if (left < 0) --steps, left += n[axis];
        const Wide first = n[0] ? n[0] : n[1] ? n[1] : n[2];
        const bool beyond = left > 0 || first < 0;  // a point at `steps` is still below the plane
        const auto from = std::lower_bound(places.begin(), places.end(), a[axis] + std::int64_t(steps) + beyond);
        winding[0] += turn;
        winding[from - places.begin()] -= turn;
    });
    std::partial_sum(winding.begin(), winding.end(), winding.begin());
}

void Crossings::lattice(const Coordinates& at, bool* inside, int threads) const {
    int axis = -1;  // of the rays: where a ray serves most points
    for (int a = 2; a >= 0; --a)
        if (closed_[a] && (axis < 0 || at[a].size() > at[axis].size())) axis = a;
    std::array<std::vector<std::int64_t>, 3> places;
    for (int a = 0; a < 3; ++a)
        for (const double place : at[a]) places[a].push_back(whole(a, place));
    std::vector<long> order(at[axis].size());  // those within the surface's bounds, ascending
    std::iota(order.begin(), order.end(), 0L);
    std::erase_if(order, [&](long n) { return !within(axis, places[axis][n]); });
    std::sort(order.begin(), order.end(), [&](long a, long b) { return places[axis][a] < places[axis][b]; });
    std::vector<std::int64_t> ascending;
    for (const long n : order) ascending.push_back(places[axis][n]);

    const std::array<long, 3> stride = {long(at[1].size() * at[2].size()), long(at[2].size()), 1};
    const int u = axis == 0, v = axis == 2 ? 1 : 2;
    const long rows = at[u].size() * at[v].size();
    std::fill_n(inside, rows * at[axis].size(), false);
    in_chunks(rows, std::max(1L, 4096 / std::max<long>(1, order.size())), threads, [&](long begin, long end) {
        std::vector<int> winding;
        for (long n = begin; n < end; ++n) {
            const long i = n / long(at[v].size()), j = n % long(at[v].size());
            WholePoint ray{};
            ray[u] = places[u][i], ray[v] = places[v][j];
            if (!within(u, ray[u]) || !within(v, ray[v])) continue;
            row(axis, ray, ascending, winding);
            bool* const out = inside + i * stride[u] + j * stride[v];
            for (std::size_t k = 0; k < order.size(); ++k) out[order[k] * stride[axis]] = winding[k] != 0;
        }
    });
}

void Crossings::points(const Coordinates& at, bool* inside, int threads) const {
    const int axis = closed_[2] ? 2 : 1;
    const int u = axis == 0, v = axis == 2 ? 1 : 2;
    in_chunks(at[0].size(), 4096, threads, [&](long begin, long end) {
        std::vector<std::pair<const Triangle*, int>> crossed;
        WholePoint ray{-1, -1, -1};  // which crosses them
        for (long n = begin; n < end; ++n) {
            const WholePoint p = whole({at[0][n], at[1][n], at[2][n]});
            inside[n] = false;
            if (!within(0, p[0]) || !within(1, p[1]) || !within(2, p[2])) continue;
            if (p[u] != ray[u] || p[v] != ray[v]) {
                crossed.clear();
                along(axis, p, [&](const Triangle& t, int turn) { crossed.emplace_back(&t, turn); });
                ray = p;
            }
            int winding = 0;
            for (const auto& [triangle, turn] : crossed) winding += below(triangle->corner, turn, p, axis) ? turn : 0;
            inside[n] = winding != 0;
        }
    });
}

}  // namespace nearfield
