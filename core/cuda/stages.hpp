// What follows the update of a half step, in launches: terms of the plan act and record in their order, and those that
// do not meet on any sample may share a launch.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "device.hpp"

namespace nearfield::cuda {

// Boxes about the samples of a term, one a component, and whether it changes them.
class Reach {
public:
    explicit Reach(bool writes) : writes_(writes) {}
    void add(int component, long i, long j, long k) { add(component, {i, j, k}, {i + 1, j + 1, k + 1}); }
    void add(int component, const std::array<long, 3>& lower, const std::array<long, 3>& upper) {
        Box& box = boxes_.at(component);
        for (int n = 0; n < 3; ++n)
            box.lower[n] = box.any ? std::min(box.lower[n], lower[n]) : lower[n],
            box.upper[n] = box.any ? std::max(box.upper[n], upper[n]) : upper[n];
        box.any = true;
    }
    bool meets(const Reach& other) const {
        if (!writes_ && !other.writes_) return false;
        for (std::size_t c = 0; c < boxes_.size(); ++c) {
            const Box &one = boxes_[c], &two = other.boxes_[c];
            bool both = one.any && two.any;
            for (int n = 0; both && n < 3; ++n) both = one.lower[n] < two.upper[n] && two.lower[n] < one.upper[n];
            if (both) return true;
        }
        return false;
    }

private:
    struct Box {
        bool any = false;
        std::array<long, 3> lower, upper;
    };
    bool writes_;
    std::array<Box, 12> boxes_{};
};

enum class Follows { points, incident, spectrum, snapshot };

template <class Real>
struct Stage {
    struct Entry {  // of a list of points or of incident waves
        long at;
        Action action;
        Received received;
        Real weight;
    };
    explicit Stage(Device& device, Follows f)
        : kind(f), samples(device), actions(device), received(device), weights(device) {}

    Follows kind;
    std::vector<Reach> members;
    std::vector<Entry> entries;  // in the order of the plan
    std::size_t recorder = 0;    // number of a spectrum or of snapshots
    long touched = 0;
    Buffer<Touched> samples;
    Buffer<Action> actions;
    Buffer<Received> received;
    Buffer<Number<Real>> weights;

    // All entries are in: those of one sample, in their order, go to one thread.
    void settle() {
        std::stable_sort(entries.begin(), entries.end(),
                         [](const Entry& one, const Entry& other) { return one.at < other.at; });
        std::vector<Touched> list;
        std::vector<Action> acts;
        std::vector<Received> taken;
        std::vector<Real> factors;
        for (const Entry& entry : entries) {
            const auto n = unsigned(taken.size());
            if (list.empty() || list.back().at != entry.at) list.push_back({entry.at, n, n});
            ++list.back().last;
            acts.push_back(entry.action), taken.push_back(entry.received), factors.push_back(entry.weight);
        }
        touched = long(list.size());
        samples.assign(list);
        if (kind == Follows::points)
            actions.assign(acts);
        else
            received.assign(taken), weights.assign(factors);
        entries = {};
    }
    std::size_t bytes() const { return samples.bytes() + actions.bytes() + received.bytes() + weights.bytes(); }
};

// The stage of a term, after all those that act on its samples: an earlier one of its kind, or a fresh one.
template <class Real>
Stage<Real>& stage_for(Device& device, std::vector<Stage<Real>>& stages, Follows kind, const Reach& reach) {
    const bool shared = kind == Follows::points || kind == Follows::incident;
    std::size_t first = 0;
    for (std::size_t n = 0; n < stages.size(); ++n)
        if (std::any_of(stages[n].members.begin(), stages[n].members.end(),
                        [&](const Reach& member) { return member.meets(reach); }))
            first = shared && stages[n].kind == kind ? n : n + 1;
    if (shared)
        for (std::size_t n = first; n < stages.size(); ++n)
            if (stages[n].kind == kind) {
                stages[n].members.push_back(reach);
                return stages[n];
            }
    stages.emplace_back(device, kind);
    stages.back().members.push_back(reach);
    return stages.back();
}

}  // namespace nearfield::cuda
