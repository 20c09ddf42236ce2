#include "states.hpp"

#include <utility>

namespace nearfield {

template <class Real>
std::vector<StateArray> states_of(Block<Real>& block) {
    const Layout& l = block.layout;
    std::vector<StateArray> list;
    const char* names[6] = {"E0", "E1", "E2", "H0", "H1", "H2"};
    const char* psi[2] = {"psi electric", "psi magnetic"};
    for (int part = 0; part < block.parts; ++part) {
        const std::string prefix = part ? "imaginary " : "";
        for (int component = 0; component < 6; ++component)
            list.push_back({prefix + names[component],
                            component / 3,
                            {l.na, l.nb, l.nc},
                            {l.plane_length, l.record_length, 1},
                            block.field(6 * part + component, 0, 0)});
        for (int half = 0; half < 2; ++half) {
            const long offset = half * 2 * lanes;
            const auto add = [&](const char* axis, std::vector<long> shape, std::vector<long> stride, Real* data) {
                list.push_back({prefix + psi[half] + axis, half, std::move(shape), std::move(stride), data + offset});
            };
            if (l.slab[0].planes())
                add(" a", {l.slab[0].planes(), l.nb, l.blocks, 2 * lanes}, {l.nb * l.psi_row, l.psi_row, 4 * lanes, 1},
                    block.a_psi_of(part));
            if (l.slab[1].planes())
                add(" b", {l.na, l.slab[1].planes(), l.blocks, 2 * lanes},
                    {l.slab[1].planes() * l.psi_row, l.psi_row, 4 * lanes, 1}, block.b_psi_of(part));
            if (l.c_psi_blocks)
                add(" c", {l.na, l.nb, l.c_psi_blocks, 2 * lanes}, {l.plane_length, l.record_length, 4 * lanes, 1},
                    block.records.get() + part * l.volume_length + l.c_psi(0, 0));
        }
    }
    return list;
}

template std::vector<StateArray> states_of(Block<float>&);
template std::vector<StateArray> states_of(Block<double>&);

}  // namespace nearfield
