// The kernels of one instruction set: kernels/, compiled with NEARFIELD_ISA (a namespace) and NEARFIELD_VECTOR_BYTES by
// CMake.
#include "elements/kernels.hpp"

#include "elements/kernels/rivals.hpp"
#include "elements/kernels/slopes.hpp"
#include "elements/kernels/step.hpp"

namespace nearfield::elements::NEARFIELD_ISA {

template <class T>
constexpr Kernels<T> table{step<T>, slopes<T>, weigh<T>};

const Kernels<float>& kernels_single() { return table<float>; }
const Kernels<double>& kernels_double() { return table<double>; }

}  // namespace nearfield::elements::NEARFIELD_ISA
