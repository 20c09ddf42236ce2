// The domain cut by place for one step or two in one pass (core/cuda/cut.hpp): any cut makes every sample once a step,
// from what it needs.
#include "cuda/cut.hpp"

#include <doctest/doctest.h>

#include <random>
#include <set>

#include "cuda/tiles.hpp"

using namespace nearfield;
using namespace nearfield::cuda;

namespace {

using Place = std::array<long, 3>;

// What a set of samples, or of blocks of them, reads in a half step too: E reads H before it along each axis, H reads E
// after it. `count`: how many there are along each axis.
std::set<Place> with_neighbours(const std::set<Place>& set, long towards, const Place& count) {
    std::set<Place> all = set;
    for (const Place& each : set)
        for (int axis = 0; axis < 3; ++axis) {
            Place next = each;
            next[axis] += towards;
            if (next[axis] >= 0 && next[axis] < count[axis]) all.insert(next);
        }
    return all;
}

// How many steps E and H of each place have made in the set of records that a pass writes; -1: they are of no use.
struct Made {
    explicit Made(const Layout& l) : places(l.na, l.nb, l.blocks) {
        for (auto& each : steps) each.assign(places.has.size(), -1);
    }
    void make(int half, const std::vector<Tile>& tiles, int step) {
        for (const Tile& tile : tiles)
            for (int y = 0; y < tile.rows; ++y)
                for (int x = 0; x < tile.blocks; ++x) {
                    const long at = places.at(tile.i, tile.j + y, tile.k + x);
                    const bool ready = steps[half][at] == step && stands(half, tile.i, tile.j + y, tile.k + x, step);
                    steps[half][at] = ready ? step + 1 : -1;
                }
    }
    // Whether the other field stands at what is read: E reads H of its own step, H reads E of the next.
    bool stands(int half, long i, long j, long k, int step) const {
        const std::vector<int>& other = steps[1 - half];
        const long towards = half ? 1 : -1;
        const auto has = [&](long p, long q, long r) {
            const bool inside = p >= 0 && p < places.planes && q >= 0 && q < places.rows && r >= 0 && r < places.blocks;
            return !inside || other[places.at(p, q, r)] == step + half;
        };
        return has(i, j, k) && has(i + towards, j, k) && has(i, j + towards, k) && has(i, j, k + towards);
    }
    Places places;
    std::array<std::vector<int>, 2> steps;
};

// Of all fours of samples, how often prisms store them. Checks that what its corners need lies in each.
std::vector<int> stored_by(const std::vector<Prism>& prisms, const Layout& l, const Places& all, long steps) {
    std::vector<int> stored(all.has.size() * 4, 0);
    for (const Prism& p : prisms) {
        std::set<Place> read;
        for (int n = 0; n < 8; ++n)
            read.insert({p.i + n % 2 * (p.planes - 1), p.j + n / 2 % 2 * (p.rows - 1), p.k + n / 4 * (p.cells - 1)});
        for (long n = 0; n < 2 * steps; ++n)
            read = with_neighbours(read, n % 2 ? -1 : 1, {l.na, l.nb, lanes * l.blocks});
        CHECK(std::all_of(read.begin(), read.end(), [&](const Place& each) {
            return each[1] >= p.first_j && each[1] < p.first_j + rows_of_prism && each[2] >= p.first_k &&
                   each[2] < p.first_k + cells_of_prism;
        }));
        for (long i = p.i; i < p.i + p.planes; ++i)
            for (long j = p.j; j < p.j + p.rows; ++j)
                for (long k = p.k; k < p.k + p.cells; k += 4) ++stored[all.at(i, j, k / lanes) * 4 + k % lanes / 4];
    }
    return stored;
}

// Whether the steps of a block of samples, H last, are the update alone.
bool only_updated(const Places& acts, long i, long j, long block, long steps) {
    std::set<Place> made{{i, j, block}};
    for (long n = 0; n + 1 < 2 * steps; ++n)
        made = with_neighbours(made, n % 2 ? -1 : 1, {acts.planes, acts.rows, acts.blocks});
    return std::none_of(made.begin(), made.end(),
                        [&](const Place& each) { return acts.has[acts.at(each[0], each[1], each[2])]; });
}

}  // namespace

TEST_CASE("every cut makes each sample once a step from what it needs") {
    std::mt19937 random(1);
    for (int draw = 0; draw < 24; ++draw) {
        const long steps = 1 + draw / 12;
        const bool slabs = draw % 3 == 2, in_prisms = draw % 6 == 5;
        const Layout l{40 - 2 * (draw % 12),
                       20 + 3 * (draw % 12),
                       90 + 17 * (draw % 12),
                       {Slab{2 * slabs, 3 * slabs}, {0, 2 * in_prisms}, {0, 3 * slabs}}};
        Places acts(l.na, l.nb, l.blocks);
        for (int n = 0; n < draw % 12 / 2; ++n) acts.add(random() % acts.has.size(), 1);
        const std::vector<Tile> tiles = tiles_of(l, [](int, long, long) { return true; });
        const Cut cut = cut_by_place(l, tiles, acts, {steps, 1 + draw % 5 * 20, in_prisms * 7});
        CHECK(cut.in_slabs.list.empty() == !in_prisms);
        Made made(l);
        for (const Tile& tile : cut.carried)
            for (int y = 0; y < tile.rows; ++y)
                for (auto& each : made.steps)
                    std::fill_n(each.begin() + made.places.at(tile.i, tile.j + y, tile.k), tile.blocks, 0);
        for (int n = 0; n < 2 * steps; ++n) made.make(n % 2, cut.halves[n], n / 2);
        std::vector<int> stored = stored_by(cut.plain.list, l, acts, steps);
        const std::vector<int> in_slab = stored_by(cut.in_slabs.list, l, acts, steps);
        Places not_plain = acts, not_in_slab = acts;
        not_plain.add(slabs_of(l, 1)), not_in_slab.add(slabs_of(l, 2));
        long wrong = 0;
        for (long n = 0; n < long(acts.has.size()); ++n) {
            const long i = n / (l.nb * l.blocks), j = n / l.blocks % l.nb, block = n % l.blocks;
            wrong += stored[4 * n] && !only_updated(not_plain, i, j, block, steps);
            wrong += in_slab[4 * n] && !only_updated(not_in_slab, i, j, block, steps);
        }
        for (std::size_t n = 0; n < stored.size(); ++n) stored[n] += in_slab[n];
        for (std::size_t n = 0; n < stored.size(); ++n) {
            const bool by_halves = made.steps[0][n / 4] == steps && made.steps[1][n / 4] == steps;
            wrong += stored[n] > 1 || (!stored[n] && !by_halves);
        }
        CHECK(wrong == 0);
        CHECK(cut.plain.list.size() > 0);
        for (const Prisms& each : {cut.plain, cut.in_slabs}) CHECK((each.busy > 0 && each.busy <= 1));
        const double all = 12.0 * double(acts.has.size()) / double(steps);  // of six numbers read and written once
        CHECK(cut.moved() >= all * (1 - 1e-12));
        const Places& by_halves = in_prisms ? not_in_slab : not_plain;
        CHECK((cut.by_halves > 0) == std::any_of(by_halves.has.begin(), by_halves.has.end(), [](char h) { return h; }));
    }
}
