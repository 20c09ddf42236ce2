#include "elements/trapping.hpp"

#include <algorithm>
#include <atomic>

#include "elements/kernels.hpp"

namespace nearfield::elements {

namespace {

constexpr long few_rows = 16;    // of a chunk of work
constexpr long batch = 1 << 14;  // points of one

bool is_cell(const Lattice& lattice, const Place& at) {
    for (int axis = 0; axis < 3; ++axis)
        if (lattice.n[axis] > 1 && !lattice.open(axis, at[axis], 1)) return false;
    return true;
}

// Whether a cell begins at a point, and all its corners hold.
template <class Holds>
bool each_corner(const Lattice& lattice, const Place& at, const Holds& holds) {
    for (int corner = 0; corner < 8; ++corner) {
        const Place step{corner >> 2, corner >> 1 & 1, corner & 1};
        bool flat = false;
        for (int axis = 0; axis < 3; ++axis) flat = flat || (step[axis] && lattice.n[axis] == 1);
        Site to;
        if (!flat && (!lattice.neighbour(at, step, to) || !holds(to))) return false;
    }
    return true;
}

// The low faces of the cells of a row.
template <class T>
class Faces {
public:
    Faces(const Lattice& lattice, const std::array<Axis<T>, 3>& axes, const T* field)
        : lattice(lattice), axes(axes), field(field), cells(long(axes[2].cells.size())), along(12 * cells) {
        for (int a = 0; a < 3; ++a)
            for (const Cell& cell : axes[a].cells) shapes[a].push_back(shape_of(axes[a].weights[cell.weights].of));
        for (long k = 0; k < cells; ++k)
            for (int m = 0; m < 4; ++m) {
                const Bernstein<T>& of = shapes[2][k];
                along[m * cells + k] = of.first[m];
                along[(4 + m) * cells + k] = of.second[m];
                along[(8 + m) * cells + k] = of.slope[m];
            }
    }

    void operator()(long i, long j, std::uint8_t* made) const {
        const Place at{i, j, 0};
        Surroundings<T> around{};
        for (int a = 0; a < 2; ++a) {
            if (at[a] >= long(axes[a].cells.size())) return;  // no cell begins there
            if (lattice.n[a] > 1) around.beside[a] = &shapes[a][at[a]];
        }
        around.cells = cells;
        const T* rows[4][4];
        for (int p = 0; p < 4; ++p)
            for (int r = 0; r < 4; ++r)
                rows[p][r] = field + lattice.index({axes[0].points[i][p], axes[1].points[j][r], 0});
        const int crossed = (inner(0, i) ? 1 : 0) | (inner(1, j) ? 2 : 0);
        const auto some = [&](long first, long count, int across) {
            for (int q = 0; lattice.n[2] > 1 && q < 3; ++q) around.z[q] = along.data() + 4 * q * cells + first;
            kernels.faces(around, across, count, made + first);
        };
        const auto alone = [&](long k) {  // whose four points do not follow one another, or none do
            T four[4][4][4];
            for (int p = 0; p < 4; ++p)
                for (int r = 0; r < 4; ++r) {
                    for (int m = 0; m < 4; ++m) four[p][r][m] = rows[p][r][axes[2].points[k][m]];
                    around.rows[p][r] = four[p][r] + (lattice.n[2] > 1);
                }
            some(k, 1, crossed | (inner(2, k) ? 4 : 0));
        };
        long k = 0;
        while (k < cells) {
            if (axes[2].cells[k].first < 0) {
                alone(k++);
                continue;
            }
            const long begin = k;
            while (k < cells && k - begin < block && axes[2].cells[k].first >= 0) ++k;
            for (int p = 0; p < 4; ++p)
                for (int r = 0; r < 4; ++r) around.rows[p][r] = rows[p][r] + begin;
            some(begin, k - begin, crossed | 4);
        }
    }

private:
    // Whether lines may cross the low face of such a cell: along flat axes nothing leads, and across walls neither.
    bool inner(int a, long at) const { return lattice.n[a] > 1 && (at > 0 || lattice.periodic[a]); }

    static Bernstein<T> shape_of(const T (&of)[4][4]) {
        Bernstein<T> made;
        for (int m = 0; m < 4; ++m) {
            made.first[m] = of[0][m] + of[1][m] / 3;
            made.second[m] = of[0][m] + (2 * of[1][m] + of[2][m]) / 3;
            made.slope[m] = of[1][m];
        }
        return made;
    }

    const Lattice& lattice;
    const std::array<Axis<T>, 3>& axes;
    const T* field;
    long cells;            // of a row
    std::vector<T> along;  // first, second, slope of each, weight by weight
    std::vector<Bernstein<T>> shapes[3];
    const Kernels<T>& kernels = kernels_for<T>();
};

// Cells from which lines get out, step by step.
template <class T>
class Leaks {
public:
    Leaks(const Lattice& lattice, const T* field, double sign, const Numbers<Label>& labels,
          const std::vector<double>& thresholds, const Team& team, const Numbers<std::uint8_t>& cells)
        : lattice(lattice), field(field), sign(sign), labels(labels), thresholds(thresholds), team(team), cells(cells) {
    }

    // Cells beside one that lines get out of lose them too, where they can cross to it, and so on. `others`: cells beside
    // points of other processes.
    void spread(long from, std::vector<long>& left, std::vector<long>& others) const {
        left.assign(1, from);
        while (!left.empty()) {
            const long index = left.back();
            left.pop_back();
            const Place at = lattice.place(index);
            bool reported = false;
            for (int axis = 0; axis < 3; ++axis) {
                if (lattice.n[axis] == 1) continue;
                for (const int way : {-1, 1}) {
                    Place step{};
                    step[axis] = way;
                    Site to;
                    if (!lattice.neighbour(at, step, to)) continue;
                    const std::uint8_t leads = (way > 0) == (sign > 0) ? falls : rises;
                    const bool crossed = read(way > 0 ? to.index : index) & leads << 2 * axis;
                    if (!crossed) continue;
                    if (to.index < team.first || to.index >= team.last) {
                        if (!reported && index >= team.first && index < team.last) others.push_back(index);
                        reported = true;
                        continue;
                    }
                    if (!(read(to.index) & trapped) || above(to.index)) continue;
                    const std::atomic_ref state(cells[to.index]);
                    if (state.fetch_and(std::uint8_t(~trapped), std::memory_order_relaxed) & trapped)
                        left.push_back(to.index);
                }
            }
        }
    }

private:
    // Whether nothing but the extremum lies ahead of a line in the cell.
    bool above(long index) const {
        const double threshold = thresholds[rank_of(labels[index])];
        return each_corner(lattice, lattice.place(index),
                           [&](const Site& to) { return sign * field[to.index] > threshold; });
    }
    std::uint8_t read(long index) const { return std::atomic_ref(cells[index]).load(std::memory_order_relaxed); }

    const Lattice& lattice;
    const T* field;
    double sign;
    const Numbers<Label>& labels;
    const std::vector<double>& thresholds;
    const Team& team;
    const Numbers<std::uint8_t>& cells;
};

}  // namespace

bool is_whole(const Lattice& lattice, const Label* labels, const Place& at, long index) {
    return each_corner(lattice, at, [&](const Site& to) { return moved(labels[to.index], to.image) == labels[index]; });
}

template <class T>
Numbers<std::uint8_t> crossings(const Lattice& lattice, const std::array<Axis<T>, 3>& axes, const T* field,
                                const Team& team) {
    Numbers<std::uint8_t> made(lattice.size(), team, "cells");
    const long n = lattice.n[2], first = team.first / n;
    const Faces<T> faces(lattice, axes, field);
    in_chunks((team.last - team.first) / n, few_rows, team.threads, [&](long begin, long end) {
        for (long row = first + begin; row < first + end; ++row)
            faces(row / lattice.n[1], row % lattice.n[1], made.data() + row * n);
    });
    made.share(team);
    return made;
}
template Numbers<std::uint8_t> crossings<float>(const Lattice&, const std::array<Axis<float>, 3>&, const float*,
                                                const Team&);
template Numbers<std::uint8_t> crossings<double>(const Lattice&, const std::array<Axis<double>, 3>&, const double*,
                                                 const Team&);

template <class T>
void trap(const Lattice& lattice, const T* field, double sign, const Numbers<Label>& labels,
          const std::vector<double>& thresholds, const Team& team, const Numbers<std::uint8_t>& cells) {
    const Leaks<T> leaks(lattice, field, sign, labels, thresholds, team, cells);
    const long chunks = (team.last - team.first + batch - 1) / batch;
    std::vector<std::vector<long>> others(chunks);
    team.in_chunks(batch, [&](long first, long last) {
        std::vector<long> left;
        Place at = lattice.place(first);
        for (long p = first; p < last; ++p, lattice.to_next(at))
            if (!(std::atomic_ref(cells[p]).load(std::memory_order_relaxed) & whole) && is_cell(lattice, at))
                leaks.spread(p, left, others[(first - team.first) / batch]);
    });
    if (team.alone()) return;
    std::vector<long> seen;
    for (const auto& part : others) seen.insert(seen.end(), part.begin(), part.end());
    while (!(seen = team.all(seen)).empty()) {
        std::vector<long> left, more;
        for (const long index : seen)
            if (index < team.first || index >= team.last) leaks.spread(index, left, more);
        seen = more;
    }
    cells.share(team);
}
template void trap<float>(const Lattice&, const float*, double, const Numbers<Label>&, const std::vector<double>&,
                          const Team&, const Numbers<std::uint8_t>&);
template void trap<double>(const Lattice&, const double*, double, const Numbers<Label>&, const std::vector<double>&,
                           const Team&, const Numbers<std::uint8_t>&);

}  // namespace nearfield::elements
