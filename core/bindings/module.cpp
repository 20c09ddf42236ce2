// The Python face of the core: nanobind only, no policy.
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
#include "recorded.hpp"
#include "waves.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace nearfield {

// An engine with its recorders: what Python holds.
template <class Real>
class Solver {
public:
    using Place = nb::ndarray<Real, nb::numpy, nb::ndim<3>, nb::device::cpu>;

    // `seams`: of each axis 1, cosine, sine, gap where it closes on itself, else 0, 1, 0, -1; `parts` 2 for complex fields.
    Solver(std::array<long, 3> shape, std::array<std::array<long, 2>, 3> slabs, const std::array<std::array<double, 4>, 3>& seams,
           int parts, long threads, const std::string& isa, const AxisCuts& cuts, const Own& own, int weighed_along, std::vector<Processors> processors, const std::string& memory,
           std::vector<std::vector<int>> nodes)
        : engine_(make_layout(shape, slabs), make_seams(seams), parts, make_cuts(cuts, shape), make_own(own, shape), weighed_along, threads,
                  {std::move(processors), policy(memory), std::move(nodes)}, isa) {}

    void set_profile(int axis, std::array<In<Real, nb::ndim<1>>, 6> values) {
        const Layout& l = engine_.block().layout;
        const long length = axis == 0 ? l.na : axis == 1 ? l.nb : l.nc;
        Profile<Real>&e = engine_.block().profile[0][axis], &h = engine_.block().profile[1][axis];
        std::vector<Real>* targets[6] = {&e.inverse, &h.inverse, &e.decay, &e.drive, &h.decay, &h.drive};
        for (int n = 0; n < 6; ++n) {
            if (long(values[n].shape(0)) != length) throw std::invalid_argument("profile has a wrong length");
            targets[n]->assign(padded(length), Real(0));
            std::copy_n(values[n].data(), length, targets[n]->begin());
        }
        for (Profile<Real>* p : {&e, &h}) {
            p->length.resize(length);
            for (long n = 0; n < length; ++n)
                p->length[n] = l.slab[axis].holds(n, length) ? Length::stretched
                               : p->inverse[n] == 1          ? Length::unit
                                                             : Length::scaled;
        }
    }

    void set_planes(bool magnetic, long first, long last, In<Real, nb::ndim<3>> a, In<Real, nb::ndim<3>> b) {
        const Layout& l = engine_.block().layout;
        for (const auto& x : {a, b})
            if (x.shape(0) != 3 || long(x.shape(1)) != l.nb || long(x.shape(2)) != l.nc)
                throw std::invalid_argument("coefficient planes must be (3, nb, nc)");
        if (first < 0 || last > l.na) throw std::invalid_argument("coefficient planes lie outside the domain");
        (magnetic ? engine_.block().magnetic : engine_.block().electric).set_planes(first, last, a.data(), b.data());
    }

    void add_current(int component, Indices i, Indices j, Indices k, In<Real, nb::ndim<1>> weight, long waveform) {
        Currents<Real>* row = nullptr;
        for (std::size_t n = 0; n < i.shape(0); ++n) {
            check(component, i(n), j(n), k(n));
            if (!row || row->span.a[0] != i(n) || row->span.b[0] != j(n)) {
                auto fresh = std::make_unique<Currents<Real>>(component, i(n), j(n), waveform);
                row = fresh.get();
                engine_.add(std::move(fresh));
            }
            row->k.push_back(k(n));
            row->weight.push_back(weight(n));
        }
    }

    // numbers: (edges, 13): admittance, voltage factor, feedback, inverse, drive, output 2, input 2, transition 4
    void add_circuit(int component, Indices i, Indices j, Indices k, In<double, nb::ndim<2>> numbers, long waveform) {
        if (numbers.shape(1) != 13) throw std::invalid_argument("a circuit has 13 numbers an edge");
        for (std::size_t n = 0; n < i.shape(0); ++n) {
            check(component, i(n), j(n), k(n));
            const double* c = numbers.data() + 13 * n;
            const CircuitNumbers circuit{c[0], c[1], c[2], c[3], c[4], {c[5], c[6]}, {c[7], c[8]}, {c[9], c[10], c[11], c[12]}};
            auto fresh = std::make_unique<Circuit<Real>>(component, i(n), j(n), k(n), waveform, circuit);
            circuits_.push_back(fresh.get());
            engine_.add(std::move(fresh));
        }
    }

    // Samples sorted by row, each with its place in the sum of `terms` terms. What is recorded are sums if this block
    // holds all of them, else the products, (samples, terms), zero where they are another's.
    void add_functional(In<std::int64_t, nb::ndim<1>> component, Indices i, Indices j, Indices k, Doubles weight, Indices place,
                        long terms, long stride) {
        Functional<Real> sum{{}, {}, terms, long(i.shape(0)) == terms};
        for (std::size_t n = 0; n < i.shape(0); ++n) {
            check(int(component(n)), i(n), j(n), k(n));
            auto& parts = sum.parts;
            if (parts.empty() || parts.back()->component != component(n) || parts.back()->span.a[0] != i(n) || parts.back()->span.b[0] != j(n)) {
                auto fresh = std::make_unique<Products<Real>>(int(component(n)), i(n), j(n), stride);
                parts.push_back(fresh.get());
                engine_.add(std::move(fresh));
            }
            sum.in_order.push_back({place(n), long(parts.size()) - 1, long(parts.back()->k.size())});
            parts.back()->k.push_back(k(n));
            parts.back()->weight.push_back(weight(n));
        }
        std::sort(sum.in_order.begin(), sum.in_order.end());
        functionals_.push_back(std::move(sum));
    }

    void add_fourier(int component, std::array<long, 3> lower, std::array<long, 3> upper, long frequencies, long stride) {
        auto box = std::make_unique<Spectrum<Real>>(component, span(component, lower, upper), lower[2], upper[2] - lower[2],
                                                    frequencies, stride, engine_.rows());
        spectra_.push_back(box.get());
        engine_.add(std::move(box));
    }

    void add_snapshot(int component, std::array<long, 3> lower, std::array<long, 3> upper, Indices steps, bool keep, Real unit) {
        auto box = std::make_unique<Snapshots<Real>>(
            component, span(component, lower, upper), lower[2], upper[2] - lower[2],
            std::vector<long>(steps.data(), steps.data() + steps.shape(0)), keep, unit, engine_.rows());
        snapshots_.push_back(box.get());
        engine_.add(std::move(box));
    }

    void add_incident(bool magnetic, long wave, In<std::int64_t, nb::ndim<1>> component, Indices i, Indices j, Indices k,
                      In<Real, nb::ndim<1>> weight, In<std::int32_t, nb::ndim<2>> column, In<Real, nb::ndim<2>> share) {
        for (std::size_t n = 0; n < i.shape(0); ++n) check(int(component(n)), i(n), j(n), k(n));
        waves_.add(engine_, magnetic, wave, component, i, j, k, weight, column, share);
    }
    void add_coupling(Places at, Indices first, Places tap, In<Real, nb::ndim<1>> weight) { couple(engine_, at, first, tap, weight); }

    // Begins a block of steps; `run` makes them, `end` tells what was recorded.
    void begin(long steps, In<Real, nb::ndim<2>> electric, In<Real, nb::ndim<2>> magnetic,
               std::vector<In<Real, nb::ndim<3>>> phasors, typename Waves<Real>::Given waves, bool weigh) {
        if (steps < 1 || long(electric.shape(0)) < steps || long(magnetic.shape(0)) < steps || phasors.size() != spectra_.size())
            throw std::invalid_argument("tables do not fit the block of steps");
        for (std::size_t n = 0; n < phasors.size(); ++n) {
            if (long(phasors[n].shape(0)) < steps || long(phasors[n].shape(1)) != spectra_[n]->frequencies || phasors[n].shape(2) != 2)
                throw std::invalid_argument("phasor table does not fit its Fourier recorder");
        }
        waves_.begin(steps, waves);
        waveforms_[0].assign(electric.data(), electric.data() + electric.size());
        waveforms_[1].assign(magnetic.data(), magnetic.data() + magnetic.size());
        engine_.begin(steps, {waveforms_[0].data(), waveforms_[1].data(), long(electric.shape(1))}, weigh);
        for (std::size_t n = 0; n < phasors.size(); ++n) spectra_[n]->add_phasors(phasors[n].data(), engine_.step(), steps);
    }

    // Steps [first, last) of the block in a region, whose sides along a and b are (at, lean); None: everywhere. False when
    // it was cut short: `poll`, where it is not None, is called every so many milliseconds, and true means to break off.
    bool run(long first, long last, const std::optional<std::array<std::array<std::array<long, 2>, 2>, 2>>& sides, nb::object poll,
             double milliseconds) {
        Region region = Region::whole(engine_.block().layout);
        for (int axis = 0; sides && axis < 2; ++axis) {
            const auto side = [&](int end) { return Side{(*sides)[axis][end][0], int((*sides)[axis][end][1])}; };
            region.low[axis] = side(0), region.high[axis] = side(1);
        }
        bool complete;
        {
            const nb::gil_scoped_release release;
            complete = engine_.run(region, first, last, [&] {
                const nb::gil_scoped_acquire acquire;
                if (PyErr_CheckSignals()) interrupted_ = true, engine_.request_stop();
                else if (!poll.is_none() && nb::cast<bool>(poll())) engine_.request_stop();
            }, milliseconds);
        }
        if (interrupted_) {
            interrupted_ = false;
            throw nb::python_error();
        }
        return complete;
    }

    // Ends the block: what each functional recorded, and the digits of the exact energy sum (core/exact_sum.hpp) with the
    // number of terms that were not finite.
    nb::tuple end() {
        engine_.end();
        nb::list recorded;
        for (const Functional<Real>& sum : functionals_) recorded.append(sum.recorded());
        const ExactSum& energy = engine_.energy();
        std::vector<std::int64_t> digits(energy.digit().begin(), energy.digit().end());
        digits.push_back(energy.not_finite());
        return nb::make_tuple(recorded, owned(std::move(digits), {ExactSum::digits + 1}));
    }

    void refreshed(long steps) { engine_.refreshed(steps); }

    // Memories (x0, x1) of all circuits in the order in which they were added, (circuits, 2).
    nb::object circuit_states() const {
        std::vector<double> states;
        for (const auto* circuit : circuits_) states.insert(states.end(), {circuit->state[0], circuit->state[1]});
        return owned(std::move(states), {circuits_.size(), 2});
    }
    void set_circuit_states(Indices which, In<double, nb::ndim<2>> states) {
        for (std::size_t n = 0; n < which.shape(0); ++n)
            for (int x = 0; x < 2; ++x) circuits_.at(which(n))->state[x] = states(n, x);
    }

    // Sums of recorder n as (frequencies, 2, ni, nj, nk), without dt; samples still kept are in them.
    nb::object fourier(std::size_t n) const {
        const FlushedDenormals flushed;
        const Spectrum<Real>& box = *spectra_.at(n);
        const long rows = box.span.count(), parts = box.parts(), nk = box.length;
        std::vector<Real> out(rows * parts * nk), sums(box.row_sums());
        for (long row = 0; row < rows; ++row) {
            std::copy_n(box.sums.data() + row * box.row_sums(), sums.size(), sums.begin());
            box.add_to(sums.data(), row);
            for (long part = 0; part < parts; ++part)
                for (long k = 0; k < nk; ++k) out[(part * rows + row) * nk + k] = sums[box.sum(part, k)];
        }
        return owned(std::move(out), box_shape({std::size_t(box.frequencies), 2}, box.span, nk));
    }

    // Where the snapshots of recorder n in the next block go, (ni, nj, nk) each with rows of unit stride, if it keeps none.
    void place_snapshots(std::size_t n, std::vector<Place> places) {
        Snapshots<Real>& box = *snapshots_.at(n);
        box.places.clear();
        for (const Place& place : places) {
            const RowSpan& span = box.span;
            if (long(place.shape(0)) != span.a[1] - span.a[0] || long(place.shape(1)) != span.b[1] - span.b[0] ||
                long(place.shape(2)) != box.length || place.stride(2) != 1)
                throw std::invalid_argument("a place is not of a snapshot's shape");
            box.places.push_back({place.data(), place.stride(0), place.stride(1)});
        }
    }

    // Those taken so far and kept, as (number, ni, nj, nk).
    nb::object snapshot(std::size_t n) const {
        const Snapshots<Real>& box = *snapshots_.at(n);
        const std::size_t number = box.kept ? box.taken(engine_.step()) : 0;
        std::vector<Real> values(box.values.begin(), box.values.begin() + number * box.samples());
        return owned(std::move(values), box_shape({number}, box.span, box.length));
    }

    // As after so many steps; all states and recordings are zero, and the caller's to write.
    void resume(long steps) {
        engine_.resume(steps);
        for (auto* box : spectra_) box->resume(steps);
    }
    // Sums of recorder n, as `fourier` gives them, after `resume`.
    void set_fourier(std::size_t n, In<Real, nb::ndim<5>> sums) {
        Spectrum<Real>& box = *spectra_.at(n);
        const long rows = box.span.count(), parts = box.parts(), nk = box.length;
        if (long(sums.size()) != rows * parts * nk) throw std::invalid_argument("these sums are not of this recorder");
        for (long row = 0; row < rows; ++row)
            for (long part = 0; part < parts; ++part)
                for (long k = 0; k < nk; ++k)
                    box.sums[row * box.row_sums() + box.sum(part, k)] = sums.data()[(part * rows + row) * nk + k];
    }
    // Snapshots of recorder n so far, as `snapshot` gives them, after `resume`.
    void set_snapshot(std::size_t n, In<Real, nb::ndim<4>> taken) {
        Snapshots<Real>& box = *snapshots_.at(n);
        if (long(taken.size()) != box.kept * box.taken(engine_.step()) * box.samples())
            throw std::invalid_argument("these snapshots are not of this recorder");
        box.values.assign(taken.data(), taken.data() + taken.size());
    }

    // Every state array by name, as a strided view: name -> (half step, array).
    static nb::dict states(nb::handle_t<Solver> self) {
        nb::dict views;
        for (const StateArray& s : nb::cast<Solver&>(self).engine_.states()) {
            const std::vector<std::size_t> shape(s.shape.begin(), s.shape.end());
            const std::vector<std::int64_t> stride(s.stride.begin(), s.stride.end());
            views[s.name.c_str()] = nb::make_tuple(
                s.half, nb::ndarray<nb::numpy, Real>(static_cast<Real*>(s.data), shape.size(), shape.data(), self, stride.data()));
        }
        return views;
    }

    // Time-skewed tiles of so many steps and rows, depth 0: stepwise; rows in segments of so many blocks, 0: whole;
    // whether rows are fetched ahead into L2.
    void set_tiling(long depth, long width, long segment, bool fetch) {
        if (depth < 0 || width < 1) throw std::invalid_argument("a tile needs a depth of 0 or more and a width of 1 or more");
        if (segment != 0 && segment < 2) throw std::invalid_argument("a segment needs at least two blocks; 0: whole rows");
        engine_.set_tiling({depth, width, segment, fetch});
    }

    BoundPoles<Real>& poles() { return poles_; }

    void reset() { engine_.reset(); }

    long step() const { return engine_.step(); }

    nb::dict facts() {
        nb::dict d;
        d["isa"] = engine_.isa();
        d["threads"] = engine_.team().size();
        d["domains"] = engine_.cuts().count();
        d["thread_ids"] = engine_.team().system_ids();
        std::size_t recorders = 0;
        for (const auto* box : spectra_) recorders += box->bytes();
        for (const auto* box : snapshots_) recorders += box->values.size() * sizeof(Real);
        d["bytes"] = engine_.bytes() + recorders + poles_.bytes();
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
        for (const PageCounts& found : engine_.pages(sample)) domains.append(nb::make_tuple(found.by_node, found.pages));
        return domains;
    }

private:
    RowSpan span(int component, const std::array<long, 3>& lower, const std::array<long, 3>& upper) const {
        check(component, lower[0], lower[1], lower[2]), check(component, upper[0] - 1, upper[1] - 1, upper[2] - 1);
        return {{lower[0], upper[0]}, {lower[1], upper[1]}};
    }
    static std::vector<std::size_t> box_shape(std::vector<std::size_t> leading, const RowSpan& rows, long cells) {
        for (const long extent : {rows.a[1] - rows.a[0], rows.b[1] - rows.b[0], cells}) leading.push_back(extent);
        return leading;
    }
    void check(int component, long i, long j, long k) const {
        const Layout& l = const_cast<Solver*>(this)->engine_.block().layout;
        if (component < 0 || component >= 6 * const_cast<Solver*>(this)->engine_.block().parts || i < 0 || j < 0 || k < 0 || i >= l.na || j >= l.nb || k >= l.nc)
            throw std::out_of_range("a row operation lies outside the domain");
    }

    Engine<Real> engine_;
    BoundPoles<Real> poles_{engine_};
    std::array<std::vector<Real>, 2> waveforms_;  // of the block under way
    Waves<Real> waves_;
    std::vector<Functional<Real>> functionals_;
    std::vector<Circuit<Real>*> circuits_;
    std::vector<Spectrum<Real>*> spectra_;
    std::vector<Snapshots<Real>*> snapshots_;
    bool interrupted_ = false;
};

template <class Real>
void bind(nb::module_& m, const char* name) {
    BoundPoles<Real>::bind(m, (std::string(name) + "Poles").c_str());
    using S = Solver<Real>;
    nb::class_<S>(m, name)
        .def(nb::init<std::array<long, 3>, std::array<std::array<long, 2>, 3>, const std::array<std::array<double, 4>, 3>&, int, long,
                      const std::string&, const AxisCuts&, const Own&, int, std::vector<Processors>, const std::string&, std::vector<std::vector<int>>>(),
             "shape"_a, "slabs"_a, "seams"_a, "parts"_a, "threads"_a, "isa"_a, "cuts"_a, "own"_a, "weighed_along"_a, "processors"_a, "memory"_a, "nodes"_a)
        .def("set_profile", &S::set_profile)
        .def("set_planes", &S::set_planes)
        .def_prop_ro("poles", &S::poles, nb::rv_policy::reference_internal)
        .def("add_current", &S::add_current)
        .def("add_circuit", &S::add_circuit)
        .def("add_incident", &S::add_incident)
        .def("add_coupling", &S::add_coupling)
        .def("add_functional", &S::add_functional)
        .def("add_fourier", &S::add_fourier)
        .def("add_snapshot", &S::add_snapshot)
        .def("place_snapshots", &S::place_snapshots)
        .def("begin", &S::begin, "steps"_a, "electric"_a, "magnetic"_a, "phasors"_a, "waves"_a, "weigh"_a)
        .def("run", &S::run, "first"_a, "last"_a, "sides"_a.none(), "poll"_a.none(), "milliseconds"_a)
        .def("end", &S::end)
        .def("refreshed", &S::refreshed, "steps"_a)
        .def("circuit_states", &S::circuit_states)
        .def("set_circuit_states", &S::set_circuit_states, "which"_a, "states"_a)
        .def("pages", &S::pages, "sample"_a)
        .def("fourier", &S::fourier)
        .def("snapshot", &S::snapshot)
        .def("resume", &S::resume, "steps"_a)
        .def("set_fourier", &S::set_fourier)
        .def("set_snapshot", &S::set_snapshot)
        .def("states", [](nb::handle_t<S> self) { return S::states(self); })
        .def("set_tiling", &S::set_tiling, "depth"_a, "width"_a, "segment"_a = 0, "fetch"_a = true)
        .def("reset", &S::reset)
        .def_prop_ro("step", &S::step)
        .def("facts", &S::facts);
}

}  // namespace nearfield

void bind_incident(nb::module_& m), bind_machine(nb::module_& m), bind_probe(nb::module_& m), bind_solids(nb::module_& m),
    bind_stream(nb::module_& m);  // each in the file of its name

NB_MODULE(_core, m) {
    m.doc() = "Nearfield's core: rows, tiles and teams. Use nearfield.Simulation or nearfield.Solver instead.";
    m.def("isa_available", &nearfield::isa_available);
    m.def("isa_choose", &nearfield::isa_choose);
    bind_incident(m), bind_solids(m);
    nb::module_ machine = m.def_submodule("machine", "Processors, pages, memory policy of this process.");
    bind_machine(machine), bind_probe(machine);
#ifdef __linux__
    nb::module_ stream = m.def_submodule("stream", "Rings of blocks in shared memory.");
    bind_stream(stream);
#endif
#ifdef NEARFIELD_DEBUG
    m.attr("debug") = true;
#else
    m.attr("debug") = false;
#endif
    nearfield::bind<float>(m, "Engine32");
    nearfield::bind<double>(m, "Engine64");
}
