// The domains of an engine: which threads work on them, and where their pages lie.
#pragma once

#include <vector>

#include "block.hpp"
#include "machine/pages.hpp"
#include "region.hpp"
#include "team.hpp"

namespace nearfield {

// Where threads and pages go.
struct Placement {
    std::vector<Processors> processors;  // of each thread; none: it is not bound
    MemoryPolicy memory = MemoryPolicy::first_touch;
    std::vector<std::vector<int>> nodes;  // of each domain, for `bind` and `interleave`
};

class Domains {
public:
    // Domains in order get threads in order: several each, or one for several.
    Domains(const Cuts& cuts, long threads, const Placement& placement);

    const Cuts cuts;
    Team team;

    const std::vector<Stint>& stints(long thread) const { return stints_[thread]; }
    // Zeroes in all records and psi. The first time this decides where their pages lie.
    template <class Real>
    void clear(Block<Real>& block);
    template <class Real>
    std::vector<PageCounts> pages(Block<Real>& block, long sample) const;  // of each domain

private:
    void share();
    template <class Real>
    void clear(Block<Real>& block, const Stint& stint) const;

    Placement placement_;
    std::vector<std::vector<Stint>> stints_;  // of each thread
    bool touched_ = false;
};

}  // namespace nearfield
