// The choice between the builds of kernels.cpp, and what they are given.
#include "cpu/rows.hpp"
#include "elements/kernels.hpp"

namespace nearfield::elements {

#define NEARFIELD_DECLARE(isa)               \
    namespace isa {                          \
    const Kernels<float>& kernels_single();  \
    const Kernels<double>& kernels_double(); \
    }
#if defined(__x86_64__)
NEARFIELD_DECLARE(baseline)
NEARFIELD_DECLARE(avx2)
NEARFIELD_DECLARE(avx512)
#elif defined(__aarch64__)
NEARFIELD_DECLARE(neon)
namespace baseline = neon;  // part of every 64-bit Arm
#else
NEARFIELD_DECLARE(baseline)
#endif

template <class T>
const Kernels<T>& pick(const Kernels<float>& single, const Kernels<double>& twice) {
    if constexpr (sizeof(T) == 4)
        return single;
    else
        return twice;
}

template <class T>
const Kernels<T>& kernels_for(const std::string& isa) {
    [[maybe_unused]] const std::string chosen = isa_choose(isa);
#if defined(__x86_64__)
    if (chosen == "avx512") return pick<T>(avx512::kernels_single(), avx512::kernels_double());
    if (chosen == "avx2") return pick<T>(avx2::kernels_single(), avx2::kernels_double());
#endif
    return pick<T>(baseline::kernels_single(), baseline::kernels_double());
}
template const Kernels<float>& kernels_for<float>(const std::string&);
template const Kernels<double>& kernels_for<double>(const std::string&);

template <class T>
Terrain<T> terrain(const std::array<Axis<T>, 3>& axes, const T* field, double sign) {
    Terrain<T> made{{}, field, sign};
    for (int a = 0; a < 3; ++a) {
        const Axis<T>& axis = axes[a];
        made.axes[a] = {axis.n,
                        long(axis.cells.size()) - 1,
                        axis.periodic,
                        axis.weights.size() == 1,
                        axis.length,
                        axis.width,
                        axis.width > 0 ? 1 / axis.width : 0,
                        axis.cells.data(),
                        axis.weights.data(),
                        reinterpret_cast<const long (*)[4]>(axis.points.data()),
                        axis.first.data()};
    }
    return made;
}
template Terrain<float> terrain<float>(const std::array<Axis<float>, 3>&, const float*, double);
template Terrain<double> terrain<double>(const std::array<Axis<double>, 3>&, const double*, double);

}  // namespace nearfield::elements
