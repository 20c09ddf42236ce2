// The kernels of one instruction set: kernels/, compiled with NEARFIELD_ISA (a namespace) and NEARFIELD_VECTOR_BYTES by
// CMake.
#include "elements/kernels.hpp"

#include "elements/kernels/faces.hpp"
#include "elements/kernels/rivals.hpp"
#include "elements/kernels/slopes.hpp"
#include "elements/kernels/step.hpp"

namespace nearfield::elements::NEARFIELD_ISA {

template <class T>
constexpr Kernels<T> table{step<T>, slopes<T>, weigh<T>, faces<T>};

template <class T>
const Kernels<T>& kernels() {
    return table<T>;
}
template const Kernels<float>& kernels<float>();
template const Kernels<double>& kernels<double>();

}  // namespace nearfield::elements::NEARFIELD_ISA
