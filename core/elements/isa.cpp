// The choice between the builds of kernels.cpp, and what they are given.
#include "elements/kernels.hpp"

namespace nearfield::elements {

NEARFIELD_BUILDS(Kernels, kernels)

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
