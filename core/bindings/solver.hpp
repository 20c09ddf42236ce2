// An engine as Python sees it: what it is made of, its steps, its states.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <optional>

#include "arguments.hpp"
#include "bound_poles.hpp"
#include "coupled.hpp"
#include "looked_after.hpp"
#include "operations/circuit.hpp"
#include "operations/currents.hpp"
#include "recorders.hpp"
#include "waves.hpp"

namespace nearfield {

// An engine with its recorders: what Python holds.
template <class Real>
class Solver {
public:
    // `seams`: of each axis 1, cosine, sine, gap where it closes on itself, else 0, 1, 0, -1; `parts` 2 for complex
    // fields.
    Solver(std::array<long, 3> shape, std::array<std::array<long, 2>, 3> slabs,
           const std::array<std::array<double, 4>, 3>& seams, int parts, long threads, const std::string& isa,
           const AxisCuts& cuts, const Own& own, int weighed_along, std::vector<Processors> processors,
           const std::string& memory, std::vector<std::vector<int>> nodes)
        : engine_(make_layout(shape, slabs), make_seams(seams), parts, make_cuts(cuts, shape), make_own(own, shape),
                  weighed_along, threads, {std::move(processors), policy(memory), std::move(nodes)}, isa) {}

    void set_profile(int axis, std::array<In<Real, nb::ndim<1>>, 6> values) {
        const Layout& l = engine_.block().layout;
        const long length = axis == 0 ? l.na : axis == 1 ? l.nb : l.nc;
        Profile<Real>&e = engine_.block().profile[0][axis], &h = engine_.block().profile[1][axis];
        fill_profile(e, h, length, values);
        for (Profile<Real>* p : {&e, &h}) {
            p->length.resize(length);
            for (long n = 0; n < length; ++n)
                p->length[n] = l.slab[axis].holds(n, length) ? Length::stretched
                               : p->inverse[n] == 1          ? Length::unit
                                                             : Length::scaled;
        }
    }

    void set_planes(bool magnetic, long first, long last, In<Real, nb::ndim<3>> a, In<Real, nb::ndim<3>> b) {
        check_coefficients<Real>(engine_.block().layout, first, last, a, b);
        (magnetic ? engine_.block().magnetic : engine_.block().electric).set_planes(first, last, a.data(), b.data());
    }

    void add_current(int component, Indices i, Indices j, Indices k, In<Real, nb::ndim<1>> weight, long waveform) {
        Currents<Real>* row = nullptr;
        for (std::size_t n = 0; n < i.shape(0); ++n) {
            check_sample(engine_, component, i(n), j(n), k(n));
            if (!row || row->span.a[0] != i(n) || row->span.b[0] != j(n)) {
                auto fresh = std::make_unique<Currents<Real>>(component, i(n), j(n), waveform);
                row = fresh.get();
                engine_.operations().add(std::move(fresh));
            }
            row->k.push_back(k(n));
            row->weight.push_back(weight(n));
        }
    }

    // numbers: (edges, 13): admittance, voltage factor, feedback, inverse, drive, output 2, input 2, transition 4
    void add_circuit(int component, Indices i, Indices j, Indices k, In<double, nb::ndim<2>> numbers, long waveform) {
        if (numbers.shape(1) != 13) throw std::invalid_argument("a circuit has 13 numbers an edge");
        for (std::size_t n = 0; n < i.shape(0); ++n) {
            check_sample(engine_, component, i(n), j(n), k(n));
            const double* c = numbers.data() + 13 * n;
            const cell::CircuitNumbers<double> circuit{c[0], c[1],         c[2],         c[3],
                                                       c[4], {c[5], c[6]}, {c[7], c[8]}, {c[9], c[10], c[11], c[12]}};
            auto fresh = std::make_unique<Circuit<Real>>(component, i(n), j(n), k(n), waveform, circuit);
            circuits_.push_back(fresh.get());
            engine_.operations().add(std::move(fresh));
        }
    }

    void add_incident(bool magnetic, long wave, In<std::int64_t, nb::ndim<1>> component, Indices i, Indices j,
                      Indices k, In<Real, nb::ndim<1>> weight, In<std::int32_t, nb::ndim<2>> column,
                      In<Real, nb::ndim<2>> share) {
        for (std::size_t n = 0; n < i.shape(0); ++n) check_sample(engine_, int(component(n)), i(n), j(n), k(n));
        waves_.add(engine_, magnetic, wave, component, i, j, k, weight, column, share);
    }
    void add_coupling(Places at, Indices first, Places tap, In<Real, nb::ndim<1>> weight) {
        couple(engine_, at, first, tap, weight);
    }

    // Begins a block of steps; `run` makes them, `end` tells what was recorded.
    void begin(long steps, In<Real, nb::ndim<2>> electric, In<Real, nb::ndim<2>> magnetic,
               const typename Recorders<Real>::Phasors& phasors, const typename Waves<Real>::Given& waves, bool weigh) {
        if (steps < 1 || long(electric.shape(0)) < steps || long(magnetic.shape(0)) < steps)
            throw std::invalid_argument("tables do not fit the block of steps");
        recorders_.check_phasors(phasors, steps);
        waves_.begin(steps, waves);
        waveforms_[0].assign(electric.data(), electric.data() + electric.size());
        waveforms_[1].assign(magnetic.data(), magnetic.data() + magnetic.size());
        engine_.begin(steps, {waveforms_[0].data(), waveforms_[1].data(), long(electric.shape(1))}, weigh);
        recorders_.add_phasors(phasors, steps);
    }

    // Steps [first, last) of the block in a region, whose sides along a and b are (at, lean); None: everywhere. False
    // when it was cut short: `poll`, where it is not None, is called every so many milliseconds, and true means to
    // break off.
    bool run(long first, long last, const std::optional<std::array<std::array<std::array<long, 2>, 2>, 2>>& sides,
             nb::object poll, double milliseconds) {
        Region region = Region::whole(engine_.block().layout);
        for (int axis = 0; sides && axis < 2; ++axis) {
            const auto side = [&](int end) { return Side{(*sides)[axis][end][0], int((*sides)[axis][end][1])}; };
            region.low[axis] = side(0), region.high[axis] = side(1);
        }
        return looked_after(
            poll, [&](const auto& look) { return engine_.run(region, first, last, look, milliseconds); },
            [&] { engine_.request_stop(); });
    }

    // Ends the block: what each functional recorded, and the digits of the exact energy sum (core/exact_sum.hpp) with
    // the number of terms that were not finite.
    nb::tuple end() {
        engine_.end();
        const ExactSum& energy = engine_.energy();
        std::vector<std::int64_t> digits(energy.digit().begin(), energy.digit().end());
        digits.push_back(energy.not_finite());
        return nb::make_tuple(recorders_.recorded(), owned(std::move(digits), {ExactSum::digits + 1}));
    }

    void refreshed(long steps) { engine_.refreshed(steps); }

    // Memories (x0, x1) of all circuits in the order in which they were added, (circuits, 2).
    nb::object circuit_states() const {
        std::vector<double> states;
        for (const auto* circuit : circuits_) states.insert(states.end(), {circuit->state.x[0], circuit->state.x[1]});
        return owned(std::move(states), {circuits_.size(), 2});
    }
    void set_circuit_states(Indices which, In<double, nb::ndim<2>> states) {
        for (std::size_t n = 0; n < which.shape(0); ++n)
            for (int x = 0; x < 2; ++x) circuits_.at(which(n))->state.x[x] = states(n, x);
    }

    // As after so many steps; all states and recordings are zero, and the caller's to write.
    void resume(long steps) {
        engine_.resume(steps);
        recorders_.resume(steps);
    }
    // Every state array by name, as a strided view: name -> (half step, array).
    static nb::dict states(nb::handle_t<Solver> self) {
        return views_of<Real>(self, nb::cast<Solver&>(self).engine_.states());
    }

    // Time-skewed tiles of so many steps and rows, depth 0: stepwise; rows in segments of so many blocks, 0: whole;
    // whether rows are fetched ahead into L2.
    void set_tiling(long depth, long width, long segment, bool fetch) {
        if (depth < 0 || width < 1)
            throw std::invalid_argument("a tile needs a depth of 0 or more and a width of 1 or more");
        if (segment != 0 && segment < 2)
            throw std::invalid_argument("a segment needs at least two blocks; 0: whole rows");
        engine_.set_tiling({depth, width, segment, fetch});
    }

    BoundPoles<Real>& poles() { return poles_; }
    Recorders<Real>& recorders() { return recorders_; }

    void reset() { engine_.reset(); }

    long step() const { return engine_.step(); }

    nb::dict facts() {
        nb::dict d;
        d["isa"] = engine_.isa();
        d["threads"] = engine_.team().size();
        d["domains"] = engine_.cuts().count();
        d["thread_ids"] = engine_.team().system_ids();
        d["bytes"] = engine_.bytes() + recorders_.bytes() + poles_.bytes();
        d["palette_blocks"] = engine_.block().electric.distinct_blocks() + engine_.block().magnetic.distinct_blocks();
        d["step"] = step();
        d["record_bytes"] = engine_.block().layout.record_length * sizeof(Real);
        d["schedule"] = engine_.tiling().depth ? "tiled" : "stepwise";
        d["tile_depth"] = engine_.tiling().depth;
        d["tile_width"] = engine_.tiling().width;
        d["tile_segment"] = engine_.tiling().segment;
        return d;
    }

    // Pages of each domain: how many lie on each node, and how many there are; `sample` of them are looked at.
    nb::list pages(long sample) {
        nb::list domains;
        for (const PageCounts& found : engine_.pages(sample))
            domains.append(nb::make_tuple(found.by_node, found.pages));
        return domains;
    }

private:
    Engine<Real> engine_;
    BoundPoles<Real> poles_{engine_};
    Recorders<Real> recorders_{engine_};
    std::array<std::vector<Real>, 2> waveforms_;  // of the block under way
    Waves<Real> waves_;
    std::vector<Circuit<Real>*> circuits_;
};

}  // namespace nearfield
