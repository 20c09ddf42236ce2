// The stepwise schedule: E of plane i, H of plane i - 1 one row behind it, so that every field passes through
// memory once a step and a record is at most one plane old when it is read again.
// Threads own consecutive planes; a thread's last H plane waits for its neighbour's first E plane of the same
// step, its first E plane for the neighbour's last H plane of the step before. There is no other barrier.
// Where E reads H of the next rows and planes too (`reach`), H follows plane by plane, and a thread's first H plane
// comes last: it waits for its neighbour's last E plane, as that does for this H plane of the step before.
#pragma once

#include <vector>

#include "work.hpp"

namespace nearfield {

template <class Real>
class Stepwise {
public:
    explicit Stepwise(const Work<Real>& work) : work_(work), marks_(work.domains.team.size()) { partition(); }

    // All threads stand after so many steps.
    void begin(long step);
    // A thread's part of steps [first, last) of the block.
    void sweep(long thread, long first, long last, ExactSum& energy);

private:
    struct Marks {  // steps of a thread's first and last planes
        Progress electric_first, magnetic_last;
        Progress electric_last, magnetic_first;  // for where E reaches two
    };
    void partition();
    void partition(const Extent& planes, long threads);
    // A thread's steps of its planes; false when it was stopped.
    bool make_planes(long thread, const Step& step);

    Work<Real> work_;
    std::vector<long> first_plane_;  // of each thread, and one past the last
    std::vector<Marks> marks_;
};

}  // namespace nearfield
