// The registry of a block's arrays: what a checkpoint, a halo or a copy must know.
#pragma once

#include <string>
#include <vector>

#include "block.hpp"

namespace nearfield {

struct StateArray {
    std::string name;
    int half;                         // 0: advances with E, 1: with H
    std::vector<long> shape, stride;  // in elements
    void* data;
};

template <class Real>
std::vector<StateArray> states_of(Block<Real>& block);

}  // namespace nearfield
