#include "elements/steepest.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "elements/kernels.hpp"
#include "schedule/loop.hpp"

namespace nearfield::elements {

namespace {

constexpr long batch = 4096;  // points of a chunk of work

// Differences below this many roundings of the data tie: tables of sin(x) hold errors of x, which grow with its size.
template <class T>
constexpr double rounding = (sizeof(T) == 4 ? 64 : 4096) * double(std::numeric_limits<T>::epsilon());

// Slopes to the 26 neighbours are differences times these: at least 1, so that no difference vanishes.
class Weights {
public:
    using Table = std::array<double, directions>;

    explicit Weights(const Lattice& lattice) : lattice(lattice) {
        double square = 0.0;
        for (const auto& widths : lattice.widths) {
            const auto [least, most] = std::minmax_element(widths.begin(), widths.end());
            square += *most * *most;
            equal = equal && *least == *most;
        }
        longest = std::sqrt(square);
        heaviest = longest / least_width(lattice);
        for (int d = 0; d < directions; ++d) {
            double sum = 0.0;
            for (int axis = 0; axis < 3; ++axis) sum += std::pow(double(step_of(d)[axis]) * lattice.widths[axis][0], 2);
            constant[d] = d == here ? 0.0 : longest / std::sqrt(sum);
        }
    }

    Table at(const Place& place) const {
        if (equal) return constant;
        Table made{};
        for (int d = 0; d < directions; ++d) {
            const double square = across(place, d) + along(place, d);
            if (square > 0) made[d] = longest / std::sqrt(square);
        }
        return made;
    }

    // Of one direction from `count` points of a row; not where widths are equal.
    template <class T>
    void of_row(const Place& begin, int direction, long count, T* to) const {
        const double beside = across(begin, direction);
        for (long k = 0; k < count; ++k)
            to[k] = T(longest / std::sqrt(beside + along({begin[0], begin[1], begin[2] + k}, direction)));
    }

    bool equal = true;  // one width along each axis
    double heaviest;    // none is larger

private:
    double along(const Place& place, int direction) const { return square(place, step_of(direction), 2); }
    double across(const Place& place, int direction) const {
        return square(place, step_of(direction), 0) + square(place, step_of(direction), 1);
    }
    double square(const Place& place, const Place& step, int axis) const {
        if (step[axis] == 0 || !lattice.open(axis, place[axis], int(step[axis]))) return 0.0;
        return std::pow(lattice.width(axis, place[axis], int(step[axis])), 2);
    }

    const Lattice& lattice;
    double longest;
    Table constant{};
};

// One point by the full rules. Higher is (value, index), so that plateaus have one summit. Of neighbours that are equally
// steep the one whose slope over two steps is steepest is taken, then the last direction, upwards and downwards alike: the
// ends of both paths then belong together where a field is symmetric about the point.
template <class T>
class Careful {
public:
    Careful(const Lattice& lattice, const T* field, const Weights& weights)
        : lattice(lattice), field(field), weights(weights) {}

    std::uint8_t operator()(const Place& at, double sign) const {
        const long own = lattice.index(at);
        const double value = field[own];
        const auto weight = weights.at(at);
        double slopes[directions], best = -1.0, scale = 0.0;
        for (int d = 0; d < directions; ++d) {
            slopes[d] = -1.0;
            Site to;
            if (d == here || !lattice.neighbour(at, step_of(d), to)) continue;
            const double rise = sign * (field[to.index] - value);
            if (rise < 0 || (rise == 0 && (sign > 0 ? to.index <= own : to.index >= own))) continue;
            slopes[d] = rise * weight[d];
            if (slopes[d] > best)
                best = slopes[d],
                scale = (std::abs(double(field[to.index])) + std::abs(value)) * weight[d] * rounding<T>;
        }
        if (best < 0) return here;
        int chosen = -1;
        double farther = 0.0;
        for (int d = 0; d < directions; ++d) {
            if (slopes[d] < 0 || slopes[d] < best - scale) continue;
            const double ahead = weight[d] * over_two(at, d, sign, value);
            if (chosen >= 0 && ahead < farther - scale) continue;
            farther = chosen < 0 ? ahead : std::max(ahead, farther);
            chosen = d;
        }
        return std::uint8_t(chosen);
    }

private:
    double over_two(const Place& at, int d, double sign, double value) const {
        Place step = step_of(d);
        for (auto& part : step) part *= 2;
        Site to;
        return lattice.neighbour(at, step, to) ? sign * (field[to.index] - value) : 0.0;
    }

    const Lattice& lattice;
    const T* field;
    const Weights& weights;
};

template <class T>
void clear(Rivals<T>& rivals, long count) {
    std::fill_n(rivals.best, count, T(0));
    std::fill_n(rivals.second, count, T(0));
    std::fill_n(rivals.code, count, typename Rivals<T>::Code(here));
}
// Whether the block's rule decides on this point: some neighbour is steeper than all others by more than rounding. Weights
// are at most `heaviest`; the value of the neighbour is within best of the point's own.
template <class T>
bool clear_cut(const Rivals<T>& rivals, long k, T value, T heaviest) {
    const T best = rivals.best[k], doubt = T(2 * rounding<T>) * (2 * std::abs(value) * heaviest + best);
    return best > 0 && best - rivals.second[k] > doubt;
}

// Index of the first point of each of the nine rows around one; -1 where the box ends.
std::array<long, 9> beside(const Lattice& lattice, const Place& start) {
    std::array<long, 9> rows;
    for (int n = 0; n < 9; ++n) {
        Site to;
        rows[n] = lattice.neighbour(start, {n / 3 - 1, n % 3 - 1, 0}, to) ? to.index : -1;
    }
    return rows;
}

}  // namespace

template <class T>
Directions steepest(const Lattice& lattice, const T* field, const Team& team) {
    const Weights weights(lattice);
    const auto constant = weights.at({});
    const T heaviest = T(weights.heaviest);
    const Careful<T> careful(lattice, field, weights);
    const Kernels<T>& kernels = kernels_for<T>();
    Directions made{{lattice.size(), team, "up-steps"}, {lattice.size(), team, "down-steps"}};
    struct {
        std::uint8_t *up, *down;
    } const found{made.up.data(), made.down.data()};
    const long length = lattice.n[2];
    // chunks are whole rows, as the team's parts are
    team.in_chunks(length * std::max(1L, batch / length), [&](long begin, long end) {
        const long first = begin / length, last = end / length;
        Rivals<T> up, down;
        T row_weights[block];
        const auto carefully = [&](const Place& at) {
            const long index = lattice.index(at);
            found.up[index] = careful(at, 1.0);
            found.down[index] = careful(at, -1.0);
        };
        for (long row = first; row < last; ++row) {
            const Place start{row / lattice.n[1], row % lattice.n[1], 0};
            const auto rows = beside(lattice, start);
            carefully(start);
            carefully({start[0], start[1], length - 1});
            for (long begin = 1; begin < length - 1; begin += block) {
                const long count = std::min(block, length - 1 - begin), base = row * length + begin;
                clear(up, count);
                clear(down, count);
                for (int d = 0; d < directions; ++d) {
                    if (d == here || rows[d / 3] < 0) continue;
                    const T* const to = field + rows[d / 3] + begin + step_of(d)[2];
                    if (!weights.equal) weights.of_row({start[0], start[1], begin}, d, count, row_weights);
                    kernels.weigh(field + base, to, T(constant[d]), weights.equal ? nullptr : row_weights, d, count, up,
                                  down);
                }
                for (long k = 0; k < count; ++k) {
                    const Place at{start[0], start[1], begin + k};
                    const T value = field[base + k];
                    found.up[base + k] = clear_cut(up, k, value, heaviest) ? up.code[k] : careful(at, 1.0);
                    found.down[base + k] = clear_cut(down, k, value, heaviest) ? down.code[k] : careful(at, -1.0);
                }
            }
        }
    });
    made.up.share(team);
    made.down.share(team);
    return made;
}

std::vector<long> ends(const Numbers<std::uint8_t>& directions, const Team& team) {
    const long chunks = (team.last - team.first + batch - 1) / batch;
    std::vector<std::vector<long>> parts(chunks);
    team.in_chunks(batch, [&](long first, long last) {
        for (long p = first; p < last; ++p)
            if (directions[p] == here) parts[(first - team.first) / batch].push_back(p);
    });
    std::vector<long> found;
    for (const auto& part : parts) found.insert(found.end(), part.begin(), part.end());
    return team.all(found);
}

// Threads, and processes of a host, may follow one path at once: all write the same labels.
Numbers<Label> followed(const Lattice& lattice, const Numbers<std::uint8_t>& directions,
                        const std::vector<long>& extrema, const Team& team, const std::string& name) {
    if (long(extrema.size()) > most_extrema) throw std::length_error("more extrema than labels can number");
    Numbers<Label> labels(lattice.size(), team, name);
    in_chunks(team.host_last - team.host_first, 1 << 20, team.threads, [&](long first, long last) {
        std::fill(labels.data() + team.host_first + first, labels.data() + team.host_first + last, unknown);
    });
    team.meet();
    for (std::size_t rank = 0; rank < extrema.size(); ++rank)
        std::atomic_ref(labels[extrema[rank]]).store(label_of(long(rank), {0, 0, 0}), std::memory_order_relaxed);
    std::atomic<bool> near{true};
    team.in_chunks(batch, [&](long first, long last) {
        std::vector<Site> path;
        for (long p = first; p < last; ++p) {
            path.clear();
            Site next{p, {0, 0, 0}};
            Label label;
            while ((label = std::atomic_ref(labels[next.index]).load(std::memory_order_relaxed)) == unknown) {
                path.push_back(next);
                lattice.neighbour(lattice.place(path.back().index), step_of(directions[path.back().index]), next);
            }
            for (Place image = next.image; !path.empty(); path.pop_back()) {
                label = moved(label, image);
                if (label == unknown) return near.store(false);
                image = path.back().image;
                std::atomic_ref(labels[path.back().index]).store(label, std::memory_order_relaxed);
            }
        }
    });
    if (!team.everywhere(near)) throw std::range_error("a path winds around the box more than twice");
    labels.share(team);
    return labels;
}

template Directions steepest<float>(const Lattice&, const float*, const Team&);
template Directions steepest<double>(const Lattice&, const double*, const Team&);

}  // namespace nearfield::elements
