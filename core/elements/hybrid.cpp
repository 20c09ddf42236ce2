#include "elements/hybrid.hpp"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <utility>
#include <vector>

#include "elements/levels.hpp"

namespace nearfield::elements {

namespace {

constexpr long coarsest = 8;  // widths
constexpr long together = 8;  // bricks few of whose points are asked
constexpr long batch = 1024;  // points of a chunk of work that follows no lines
constexpr int blind = 3;      // steps within a region that the coarse levels have not seen

enum : std::uint8_t { idle, asked, followed, settled };  // its neighbours, too, were looked at

struct End {
    long point;
    Label label;
};

template <class T>
class Descent {
public:
    explicit Descent(Lines<T>& lines)
        : lines(lines), lattice(lines.lattice), team(lines.team), found(lattice.size(), team, lines.side + "-ends"),
          state(lattice.size(), team, lines.side + "-wanted") {
        team.in_chunks(batch, [&](long first, long last) {
            std::copy(lines.labels.data() + first, lines.labels.data() + last, found.data() + first);
        });
        for (const Extremum& extremum : lines.extrema)
            if (own(extremum.index)) state[extremum.index] = asked;
    }

    // The points of the level between those of the coarser one; all of them where there is none.
    void enter(const Level& level, const Level* coarser) {
        const long row = lattice.n[2];
        team.in_chunks(row * std::max(1L, batch / row), [&](long first, long last) {
            level.each(first, last, [&](long p, const Place& at) {
                if (coarser && coarser->holds(at)) return;
                const Label label = coarser ? coarser->between(found.data(), at) : unknown;
                if (label == unknown)
                    state[p] = asked;
                else
                    found[p] = label;
            });
        });
        follow(coarser, 0, [&](const std::vector<long>& points, const std::vector<Label>& ends) {
            for (std::size_t m = 0; m < points.size(); ++m)
                if (ends[m] != unknown) found[points[m]] = ends[m];
        });
    }

    // The labels of a level's points, to all processes; other points of theirs stay 0.
    void share(const Level& level) {
        if (team.alone()) return;
        std::vector<Label> labels;
        level.each(team.first, team.last, [&](long p, const Place&) { labels.push_back(found[p]); });
        auto next = (labels = team.all(labels)).begin();
        level.each(0, lattice.size(), [&](long p, const Place&) { put({p, *next++}); });
    }

    // From points beside one of another label, until there are no more. Those of the coarser level, which lines read, and
    // those that other processes learn change after all lines have been followed.
    void spread(const Level& coarser) {
        std::vector<End> ends = team.alone() ? std::vector<End>() : team.all(at_borders());
        while (ask_beside(ends)) {
            ends.clear();
            std::mutex one_at_a_time;
            follow(&coarser, blind, [&](const std::vector<long>& points, const std::vector<Label>& labels) {
                const std::lock_guard lock(one_at_a_time);
                for (std::size_t m = 0; m < points.size(); ++m) {
                    if (labels[m] == unknown) continue;
                    const End end{points[m], labels[m]};
                    if (!team.alone() || coarser.holds(lattice.place(end.point)))
                        ends.push_back(end);
                    else
                        put(end);
                }
            });
            if (!team.alone()) ends = team.all(ends);
            for (const End& end : ends) put(end);
        }
    }

    Numbers<Label> taken() { return std::move(found); }

private:
    bool own(long p) const { return p >= team.first && p < team.last; }
    // Processes of a host write the same.
    void put(const End& end) { std::atomic_ref(found[end.point]).store(end.label, std::memory_order_relaxed); }

    template <class Ended>
    void follow(const Level* coarser, int blind, const Ended& ended) {
        const auto chosen = [&](long p) {
            if (state[p] != asked) return false;
            state[p] = followed;
            return true;
        };
        lines.from(
            together, [&] { return Known{.level = coarser, .found = found.data(), .blind = blind}; }, chosen, ended);
    }

    template <class Work>
    void each_beside(const Place& at, const Work& work) const {
        for (int d = 0; d < directions; ++d) {
            Site to;
            if (is_face(d) && lattice.neighbour(at, step_of(d), to)) work(to);
        }
    }

    // The team's own points beside one of another label that a line has given it, which no line has started from. Several
    // threads may ask one point: each writes the same.
    bool ask_beside(const std::vector<End>& others) {
        std::atomic<bool> some{false};
        const auto look = [&](const End& end) {
            each_beside(lattice.place(end.point), [&](const Site& to) {
                if (!own(to.index)) return;
                const std::atomic_ref shared(state[to.index]);
                if (shared.load(std::memory_order_relaxed) != idle || moved(found[to.index], to.image) == end.label)
                    return;
                shared.store(asked, std::memory_order_relaxed);
                some.store(true, std::memory_order_relaxed);
            });
        };
        team.in_chunks(batch, [&](long first, long last) {
            for (long p = first; p < last; ++p) {
                const std::atomic_ref shared(state[p]);
                if (shared.load(std::memory_order_relaxed) != followed) continue;
                shared.store(settled, std::memory_order_relaxed);
                look({p, found[p]});
            }
        });
        for (const End& end : others)
            if (!own(end.point)) look(end);
        return !team.everywhere(!some);
    }

    // Ends of own lines from points beside those of other processes.
    std::vector<End> at_borders() const {
        std::vector<End> ends;
        for (long p = team.first; p < team.last; ++p) {
            if (state[p] != followed) continue;
            bool border = false;
            each_beside(lattice.place(p), [&](const Site& to) { border = border || !own(to.index); });
            if (border) ends.push_back({p, found[p]});
        }
        return ends;
    }

    Lines<T>& lines;
    const Lattice& lattice;
    const Team& team;
    Numbers<Label> found;
    const Numbers<std::uint8_t> state;
};

// The point of the highest extremum, from which levels are counted: so fields that are shifted have the same lines.
template <class T>
Place highest(const Lines<T>& lines) {
    const auto higher = [&](const Extremum& one, const Extremum& other) {
        return lines.sign * lines.field[one.index] < lines.sign * lines.field[other.index];
    };
    return lines.lattice.place(std::max_element(lines.extrema.begin(), lines.extrema.end(), higher)->index);
}

}  // namespace

template <class T>
Numbers<Label> hybrid(Lines<T>& lines) {
    Descent<T> descent(lines);
    const Place origin = highest(lines);
    std::vector<Level> levels;
    for (long stride = coarsest; stride > 0; stride /= 2) {
        levels.emplace_back(lines.lattice, origin, stride);
        descent.enter(levels.back(), stride == coarsest ? nullptr : &levels.end()[-2]);
        if (stride > 1) descent.share(levels.back());
    }
    descent.spread(levels.end()[-2]);
    return descent.taken();
}
template Numbers<Label> hybrid(Lines<float>&);
template Numbers<Label> hybrid(Lines<double>&);

}  // namespace nearfield::elements
