// The row kernels of one instruction set: rows/, compiled with NEARFIELD_ISA (a namespace) and NEARFIELD_VECTOR_BYTES
// by CMake.
#include "rows.hpp"

#include "rows/incident.hpp"
#include "rows/poles.hpp"
#include "rows/recorded.hpp"
#include "rows/update.hpp"

namespace nearfield::NEARFIELD_ISA {

template <class Real>
constexpr Rows<Real> table{{update<Real, true, false>, update<Real, true, true>},
                           {update<Real, false, false>, update<Real, false, true>},
                           energy<Real>,
                           accumulate<Real>,
                           send<Real>,
                           poles<Real>,
                           incident<Real, true>,
                           incident<Real, false>,
                           singles<Real>};

template <class T>
const Rows<T>& rows() {
    return table<T>;
}
template const Rows<float>& rows<float>();
template const Rows<double>& rows<double>();

}  // namespace nearfield::NEARFIELD_ISA
