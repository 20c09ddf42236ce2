// What a schedule hands out: rows, to the threads of domains.
#pragma once

#include <atomic>

#include "domains.hpp"
#include "row_maker.hpp"
#include "step_block.hpp"

namespace nearfield {

template <class Real>
struct Work {
    const Layout& layout;
    const Seams& seams;
    const Domains& domains;
    const StepBlock& steps;
    RowMaker<Real>& rows;
    const std::atomic<bool>& stop;
};

}  // namespace nearfield
