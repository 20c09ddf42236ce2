// A step of lines along the gradient.
#pragma once

#include "elements/kernels/slopes.hpp"

namespace nearfield::elements::NEARFIELD_ISA {

// Of the vectors so far, those of a stage.
constexpr double shares[4][3] = {{}, {0.5, 0, 0}, {0, 0.75, 0}, {2.0 / 9, 1.0 / 3, 4.0 / 9}};

template <class T>
void step(const Terrain<T>& terrain, Bundle& lines, long count) {
    alignas(64) double k[4][3][lanes], to[3][lanes], inside[3][lanes], scale[lanes];
    alignas(64) Flags good;
    const Slopes& here = lines.here;
    Slopes there;
    for (int m = 0; m < lanes; ++m) good[m] = m < count ? 1 : 0;
    const auto turn = [&](int stage, const Slopes& of) {  // into the direction of the gradient there
        for (int m = 0; m < lanes; ++m) scale[m] = 1 / of.steep[m];
        for (int a = 0; a < 3; ++a)
            for (int m = 0; m < lanes; ++m) k[stage][a][m] = of.gradient[a][m] * scale[m];
    };
    turn(0, here);
    for (int stage = 1; stage < 4; ++stage) {
        for (int a = 0; a < 3; ++a) {
            auto& end = to[a];
            for (int m = 0; m < lanes; ++m) end[m] = shares[stage][stage - 1] * k[stage - 1][a][m];
            for (int before = stage - 2; before >= 0; --before)
                for (int m = 0; m < lanes; ++m) end[m] += shares[stage][before] * k[before][a][m];
            for (int m = 0; m < lanes; ++m) end[m] = lines.at[a][m] + lines.length[m] * end[m];
            for (int m = 0; m < lanes; ++m) inside[a][m] = good[m] ? end[m] : 0;
        }
        measure(terrain, inside, good, there);
        turn(stage, there);
        for (int m = 0; m < lanes; ++m) good[m] = there.steep[m] >= least_share * here.steep[m] ? good[m] : 0;
        for (int m = 0; m < lanes; ++m) good[m] = there.steep[m] <= most_share * here.steep[m] ? good[m] : 0;
    }
    for (int m = 0; m < lanes; ++m) good[m] = there.value[m] > here.value[m] ? good[m] : 0;

    alignas(64) double error[lanes], change[lanes], shorter[lanes], longer[lanes];
    for (int m = 0; m < lanes; ++m) error[m] = 1e-12;
    for (int a = 0; a < 3; ++a)
        for (int m = 0; m < lanes; ++m) {
            const double part = __builtin_fabs((1.0 / 12 * k[1][a][m] - 5.0 / 72 * k[0][a][m]) +
                                               (1.0 / 9 * k[2][a][m] - 1.0 / 8 * k[3][a][m]));
            error[m] = error[m] < part ? part : error[m];
        }
    for (int m = 0; m < lanes; ++m) change[m] = 0.9 * std::sqrt(lines.allowed[m] / error[m]);
    for (int m = 0; m < lanes; ++m) {
        const double least = change[m] < 0.2 ? 0.2 : change[m], refused = 0.7 < least ? 0.7 : least;
        shorter[m] = lines.length[m] * (good[m] ? refused : 0.5);
    }
    for (int m = 0; m < lanes; ++m) {
        const double fall = (here.steep[m] - there.steep[m]) * scale[m];
        const double most = fall > foreseen / most_growth ? foreseen / fall : most_growth;
        const double least = change[m] < 0.3 ? 0.3 : change[m], growth = least < most ? least : most;
        // after a refused step no longer than that one
        const double next = lines.length[m] * (lines.went[m] ? growth : growth < 1 ? growth : 1);
        longer[m] = next < lines.longest ? next : lines.longest;
    }
    for (int m = 0; m < lanes; ++m) lines.step[m] = lines.length[m];
    for (int m = 0; m < lanes; ++m) lines.went[m] = error[m] <= lines.allowed[m] ? good[m] : 0;
    for (int m = 0; m < lanes; ++m) lines.length[m] = lines.went[m] ? longer[m] : shorter[m];

    const auto take = [&](Doubles& of, const Doubles& from) {
        for (int m = 0; m < lanes; ++m) of[m] = lines.went[m] ? from[m] : of[m];
    };
    for (int a = 0; a < 3; ++a) take(lines.at[a], to[a]), take(lines.here.gradient[a], there.gradient[a]);
    take(lines.here.value, there.value);
    take(lines.here.steep, there.steep);
    std::memcpy(lines.here.cell, there.cell, sizeof(there.cell));
}

}  // namespace nearfield::elements::NEARFIELD_ISA
