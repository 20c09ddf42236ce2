// Prisms of one step or two in slabs of the CPML along one axis, and beside them (sweep.h): a slab's psi comes with the
// plane, and between the steps of a pass lies in the block's memory, 32 KiB more. In single precision: in double neither
// registers nor a block's memory would do.
#include "sweep.h"

namespace nearfield::cuda {

#define SLAB_ONE(Real, a) sweep_prism<Real, 1, true>(a)
#define SLAB_TWO(Real, a) sweep_prism<Real, 2, true>(a)
NEARFIELD_KERNEL_IN_SINGLE(sweep_slab_one, Sweep, (memory_of_prism<float, 1, true>), SLAB_ONE)
NEARFIELD_KERNEL_IN_SINGLE(sweep_slab_two, Sweep, (memory_of_prism<float, 2, true>), SLAB_TWO)

}  // namespace nearfield::cuda
