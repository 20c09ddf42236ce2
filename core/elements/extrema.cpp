#include "elements/extrema.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <mutex>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "schedule/loop.hpp"

namespace nearfield::elements {

namespace {

constexpr long batch = 1 << 15;  // points of a chunk of work

using Matrix = std::array<std::array<double, 3>, 3>;

double determinant(const Matrix& m) {
    double sum = 0.0;
    for (int a = 0; a < 3; ++a)
        sum += m[0][a] * (m[1][(a + 1) % 3] * m[2][(a + 2) % 3] - m[1][(a + 2) % 3] * m[2][(a + 1) % 3]);
    return sum;
}

// The solution of m x = b by Cramer's rule; no step where m is singular.
Point solved(const Matrix& m, const Point& b) {
    const double whole = determinant(m);
    Point x{};
    if (whole == 0.0) return x;
    for (int axis = 0; axis < 3; ++axis) {
        Matrix part = m;
        for (int row = 0; row < 3; ++row) part[row][axis] = b[row];
        x[axis] = determinant(part) / whole;
    }
    return x;
}

// The pair of extremum ranks and the shift between their images in one number.
constexpr long side = 4 * reach + 1, shifts = side * side * side;
std::uint64_t key_of(Label up, Label down) {
    const Place high = image_of(up), low = image_of(down);
    std::uint64_t shift = 0;
    for (int axis = 0; axis < 3; ++axis) shift = shift * side + std::uint64_t(high[axis] - low[axis] + 2 * reach);
    return (std::uint64_t(rank_of(up)) << 36 | std::uint64_t(rank_of(down)) << 10) | shift;
}
static_assert(shifts <= 1 << 10 && most_extrema < 1L << 26);

Element element_of(std::uint64_t key) {
    const long shift = key & 1023;
    return {long(key >> 36), long(key >> 10 & ((1L << 26) - 1)),
            Place{shift / (side * side) - 2 * reach, shift / side % side - 2 * reach, shift % side - 2 * reach}, 0};
}

// Of the parabola through a point and its neighbours along an axis: weights of these three in its derivative and its second
// derivative at the point.
struct Bend {
    std::array<double, 3> slope{}, curvature{};
};

Bend bend_of(double before, double after) {
    const double both = before + after;
    return {{-after / (before * both), (after - before) / (before * after), before / (after * both)},
            {2 / (before * both), -2 / (before * after), 2 / (after * both)}};
}

}  // namespace

template <class T>
std::vector<Extremum> refined(const Lattice& lattice, const std::array<Axis<T>, 3>& axes, const T* field,
                              const std::vector<long>& extrema) {
    const double least = least_width(lattice);
    std::vector<Extremum> found;
    for (const long index : extrema) {
        const Place at = lattice.place(index);
        std::array<bool, 3> open{};
        std::array<Bend, 3> bends;
        std::array<double, 3> most{};
        for (int axis = 0; axis < 3; ++axis) {
            open[axis] = lattice.n[axis] > 1 && lattice.open(axis, at[axis], -1) && lattice.open(axis, at[axis], 1);
            if (!open[axis]) continue;
            const double before = lattice.width(axis, at[axis], -1) / least,
                         after = lattice.width(axis, at[axis], 1) / least;
            bends[axis] = bend_of(before, after);
            most[axis] = std::max(before, after);
        }
        const auto value = [&](int a, int da, int b, int db) {
            Place step{};
            step[a] += da;
            step[b] += db;
            Site to;
            lattice.neighbour(at, step, to);
            return double(field[to.index]);
        };
        const double own = field[index];
        Matrix curved{};
        Point slope{};
        for (int a = 0; a < 3; ++a) {
            curved[a][a] = 1.0;  // of an axis along which nothing moves
            if (!open[a]) continue;
            curved[a][a] = 0.0;
            for (int m = 0; m < 3; ++m) {
                slope[a] += bends[a].slope[m] * value(a, m - 1, a, 0);
                curved[a][a] += bends[a].curvature[m] * value(a, m - 1, a, 0);
                for (int b = 0; b < a; ++b)
                    for (int k = 0; k < 3 && open[b]; ++k) {
                        curved[a][b] += bends[a].slope[m] * bends[b].slope[k] * value(a, m - 1, b, k - 1);
                        curved[b][a] = curved[a][b];
                    }
            }
        }
        const Point step = solved(curved, slope);
        Extremum one{index, {}, own};
        bool near = true;  // else the parabola tells nothing of this extremum
        for (int axis = 0; axis < 3; ++axis) {
            one.place[axis] = axes[axis].position[at[axis]];
            near = near && std::abs(step[axis]) <= most[axis];
        }
        for (int axis = 0; axis < 3 && near; ++axis) {
            one.place[axis] -= step[axis];
            one.value -= 0.5 * slope[axis] * step[axis];
        }
        found.push_back(one);
    }
    return found;
}

std::vector<Element> gathered(const Numbers<Label>& up, const Numbers<Label>& down, const Team& team) {
    std::unordered_set<std::uint64_t> all;
    std::mutex lock;
    team.in_chunks(batch, [&](long first, long last) {
        std::unordered_set<std::uint64_t> own;
        std::uint64_t latest = ~std::uint64_t{0};
        for (long p = first; p < last; ++p)
            if (const auto key = key_of(up[p], down[p]); key != latest) own.insert(latest = key);
        const std::scoped_lock held(lock);
        all.merge(own);
    });
    std::vector<std::uint64_t> keys = team.all(std::vector<std::uint64_t>(all.begin(), all.end()));
    std::sort(keys.begin(), keys.end());
    keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
    std::vector<Element> found;
    std::unordered_map<std::uint64_t, Label> number;
    for (const auto key : keys) {
        number[key] = Label(found.size());
        found.push_back(element_of(key));
    }
    team.in_chunks(batch, [&](long first, long last) {
        std::uint64_t latest = ~std::uint64_t{0};
        Label element = 0;
        long points = 0;
        const auto count = [&] {
            if (points) std::atomic_ref(found[element].points).fetch_add(points, std::memory_order_relaxed);
            points = 0;
        };
        for (long p = first; p < last; ++p) {
            if (const auto key = key_of(up[p], down[p]); key != latest) {
                count();
                element = number.find(latest = key)->second;
            }
            up[p] = element;
            ++points;
        }
        count();
    });
    if (team.alone()) return found;
    std::vector<long> points;
    for (Element& element : found) points.push_back(std::exchange(element.points, 0));
    const std::vector<long> each = team.all(points);
    for (std::size_t m = 0; m < each.size(); ++m) found[m % found.size()].points += each[m];
    return found;
}

template std::vector<Extremum> refined<float>(const Lattice&, const std::array<Axis<float>, 3>&, const float*,
                                              const std::vector<long>&);
template std::vector<Extremum> refined<double>(const Lattice&, const std::array<Axis<double>, 3>&, const double*,
                                               const std::vector<long>&);

}  // namespace nearfield::elements
