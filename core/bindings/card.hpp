// The engine on a device as Python sees it: the same methods as the CPU's (solver.hpp), for one process and its whole
// plan.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <optional>

#include "arguments.hpp"
#include "card_poles.hpp"
#include "cuda/engine.hpp"
#include "looked_after.hpp"
#include "recorded.hpp"

namespace nearfield {

template <class Real>
class Card {
public:
    using Phasors = std::vector<In<Real, nb::ndim<3>>>;
    using Given = std::vector<std::optional<In<Real, nb::ndim<3>>>>;
    using Packed = nb::ndarray<Real, nb::numpy, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
    using Place = nb::ndarray<Real, nb::numpy, nb::ndim<3>, nb::device::cpu>;

    // `seams` and `parts` as in solver.hpp.
    Card(std::array<long, 3> shape, std::array<std::array<long, 2>, 3> slabs,
         const std::array<std::array<double, 4>, 3>& seams, int parts, int weighed_along,
         std::shared_ptr<cuda::Device> device, std::optional<std::array<int, 2>> exponents)
        : engine_(std::move(device), make_layout(shape, slabs), make_seams(seams), parts, weighed_along, exponents) {}

    long lost() { return engine_.lost(); }

    void set_passes(double passes) { engine_.set_passes(passes); }
    void set_profile(int axis, std::array<In<Real, nb::ndim<1>>, 6> values) {
        fill_profile(engine_.profile(0, axis), engine_.profile(1, axis), lengths()[axis], values);
    }
    void set_planes(bool magnetic, long first, long last, In<Real, nb::ndim<3>> a, In<Real, nb::ndim<3>> b) {
        check_coefficients<Real>(engine_.layout(), first, last, a, b);
        engine_.coefficients(magnetic).set_planes(first, last, a.data(), b.data());
    }

    void add_current(int component, Indices i, Indices j, Indices k, In<Real, nb::ndim<1>> weight, int waveform) {
        cuda::Reach reach(true);
        for (std::size_t n = 0; n < i.shape(0); ++n) {
            check(component, i(n), j(n), k(n));
            engine_.add_current(component, i(n), j(n), k(n), weight(n), waveform, reach);
        }
        engine_.finish(cuda::Follows::points, reach);
    }
    // numbers: (edges, 13): admittance, voltage factor, feedback, inverse, drive, output 2, input 2, transition 4
    void add_circuit(int component, Indices i, Indices j, Indices k, In<double, nb::ndim<2>> numbers, int waveform) {
        if (numbers.shape(1) != 13) throw std::invalid_argument("a circuit has 13 numbers an edge");
        cuda::Reach reach(true);
        for (std::size_t n = 0; n < i.shape(0); ++n) {
            check(component, i(n), j(n), k(n));
            const auto c = [&](int m) { return cuda::flushed(numbers(n, m)); };
            engine_.add_circuit(component, i(n), j(n), k(n),
                                {c(0), c(1), c(2), c(3), c(4), {c(5), c(6)}, {c(7), c(8)}, {c(9), c(10), c(11), c(12)}},
                                waveform, reach);
        }
        engine_.finish(cuda::Follows::points, reach);
    }
    // Terms of a sum of so many, all of them or those that lie here, each with its place in it.
    void add_functional(In<std::int64_t, nb::ndim<1>> component, Indices i, Indices j, Indices k, Doubles weight,
                        Indices place, long terms, long stride) {
        cuda::Reach reach(false);
        engine_.begin_functional(terms, stride, long(i.shape(0)) != terms);
        for (std::size_t n = 0; n < i.shape(0); ++n) {
            check(int(component(n)), i(n), j(n), k(n));
            if (place(n) < 0 || place(n) >= terms) throw std::out_of_range("a term has no place in its sum");
            engine_.add_product(int(component(n)), i(n), j(n), k(n), weight(n), place(n), reach);
        }
        engine_.finish(cuda::Follows::points, reach);
    }
    void add_incident(bool magnetic, unsigned wave, In<std::int64_t, nb::ndim<1>> component, Indices i, Indices j,
                      Indices k, In<Real, nb::ndim<1>> weight, In<std::int32_t, nb::ndim<2>> column,
                      In<Real, nb::ndim<2>> share) {
        cuda::Reach reach(true);
        const std::size_t taps = column.shape(1);
        waves_needed_.resize(std::max<std::size_t>(waves_needed_.size(), wave + 1));
        for (std::size_t n = 0; n < i.shape(0); ++n) {
            check(int(component(n)), i(n), j(n), k(n));
            if (component(n) / 3 != magnetic) throw std::invalid_argument("an incident term drives E or H, not both");
            const std::int32_t* const columns = column.data() + n * taps;
            for (std::size_t tap = 0; tap < taps; ++tap) {
                if (columns[tap] < 0) throw std::out_of_range(outside);
                waves_needed_[wave] = std::max(waves_needed_[wave], columns[tap] + 1L);
            }
            engine_.add_received(int(component(n)), i(n), j(n), k(n), weight(n), wave, columns, share.data() + n * taps,
                                 unsigned(taps), reach);
        }
        engine_.finish(cuda::Follows::incident, reach);
    }
    // As in coupled.hpp.
    void add_coupling(Places at, Indices first, Places tap, In<Real, nb::ndim<1>> weight) {
        const long count = at.shape(0), taps = tap.shape(0);
        if (!count || at.shape(1) != 4 || tap.shape(1) != 4 || long(first.shape(0)) != count + 1 || first(0) != 0 ||
            first(count) != taps || long(weight.shape(0)) != taps)
            throw std::invalid_argument("the arrays of a coupling do not fit each other");
        const auto offset = [&](const Places& place, long n, bool magnetic) {
            bool right = place(n, 0) / 3 == magnetic;
            for (int axis = 0; axis < 3; ++axis) {
                const long beyond = magnetic && engine_.seams()[axis].closed;
                right &= place(n, 1 + axis) >= -beyond && place(n, 1 + axis) < lengths()[axis] + beyond;
            }
            if (!right) throw std::out_of_range("a coupling leads out of the domain");
            return engine_.placed().field(int(place(n, 0)), place(n, 1), place(n, 2)) + place(n, 3);
        };
        std::vector<long> samples;
        std::vector<int> offsets;
        for (long n = 0; n < count; ++n) {
            samples.push_back(offset(at, n, false));
            for (long t = first(n); t < first(n + 1); ++t) offsets.push_back(narrow(offset(tap, t, true) - samples[n]));
        }
        engine_.set_coupling(samples, {first.data(), first.data() + count + 1}, offsets,
                             {weight.data(), weight.data() + taps});
    }
    void add_fourier(int component, std::array<long, 3> lower, std::array<long, 3> upper, long frequencies,
                     long stride) {
        engine_.add_transform(box(component, lower, upper), frequencies, stride);
    }
    void add_snapshot(int component, std::array<long, 3> lower, std::array<long, 3> upper, Indices steps, bool keep,
                      Real unit) {
        engine_.add_copies(box(component, lower, upper), {steps.data(), steps.data() + steps.shape(0)}, keep, unit);
    }

    void begin(long steps, In<Real, nb::ndim<2>> electric, In<Real, nb::ndim<2>> magnetic, const Phasors& phasors,
               const Given& waves, bool weigh) {
        if (steps < 1 || long(electric.shape(0)) < steps || long(magnetic.shape(0)) < steps ||
            phasors.size() != engine_.transforms().size() || waves.size() < waves_needed_.size())
            throw std::invalid_argument("tables do not fit the block of steps");
        std::vector<std::vector<Real>> turns;
        for (std::size_t n = 0; n < phasors.size(); ++n) {
            if (long(phasors[n].shape(0)) < steps || phasors[n].shape(2) != 2 ||
                long(phasors[n].shape(1)) != engine_.transforms()[n].frequencies)
                throw std::invalid_argument("phasor table does not fit its Fourier recorder");
            turns.emplace_back(phasors[n].data(), phasors[n].data() + phasors[n].size());
        }
        std::vector<typename cuda::CardEngine<Real>::Table> tables(waves.size());
        for (std::size_t n = 0; n < waves.size(); ++n) {
            if (!waves[n]) continue;
            if (waves[n]->shape(0) != 2 || long(waves[n]->shape(1)) != steps)
                throw std::invalid_argument("the table of an incident wave does not fit the block of steps");
            if (n < waves_needed_.size() && waves_needed_[n] > long(waves[n]->shape(2)))
                throw std::out_of_range(outside);
            tables[n] = {{waves[n]->data(), waves[n]->data() + waves[n]->size()}, long(waves[n]->shape(2))};
        }
        engine_.begin(steps,
                      {std::vector<Real>(electric.data(), electric.data() + electric.size()),
                       std::vector<Real>(magnetic.data(), magnetic.data() + magnetic.size())},
                      long(electric.shape(1)), turns, tables, weigh);
    }
    // All steps of the block; `poll` as in solver.hpp.
    bool run(nb::object poll, double milliseconds, long last) {
        return looked_after(
            poll, [&](const auto& look) { return engine_.run(look, milliseconds, last); },
            [&] { engine_.request_stop(); });
    }
    // ---- ranks
    void set_own(const Own& own) { engine_.set_own(make_own(own, lengths())); }
    // Places of states in the arrays of `mirrors`, one after the other.
    std::size_t add_message(In<std::int64_t, nb::ndim<1>> places) {
        std::size_t states = 0;
        for (const auto& [_, length] : engine_.mirrors()) states += length;
        for (std::size_t n = 0; n < places.size(); ++n)
            if (places(n) < 0 || places(n) >= long(states))
                throw std::out_of_range("a message takes in what is no state");
        return engine_.add_message({places.data(), places.data() + places.size()});
    }
    void pack(std::size_t message, Packed values) { engine_.pack(message, values.data()); }
    void unpack(std::size_t message, Packed values) { engine_.unpack(message, values.data()); }
    void gather(std::size_t message) { engine_.gather(message); }
    void scatter(std::size_t message) { engine_.scatter(message); }
    void wait() { engine_.wait(); }
    // Address and bytes on the device.
    std::array<std::uintptr_t, 2> row(std::size_t message) const {
        const auto [first, bytes] = engine_.row(message);
        return {reinterpret_cast<std::uintptr_t>(first), bytes};
    }
    void take(std::size_t message, Card& other, std::size_t packed, bool gathered) {
        engine_.take(message, other.engine_, packed, gathered);
    }
    void refreshed() { engine_.refreshed(); }
    // Addresses of the host's arrays of states, and their lengths.
    std::vector<std::array<std::uintptr_t, 2>> mirrors() const {
        std::vector<std::array<std::uintptr_t, 2>> found;
        for (const auto& [first, length] : engine_.mirrors())
            found.push_back({reinterpret_cast<std::uintptr_t>(first), length});
        return found;
    }

    nb::tuple end() {
        nb::list recorded;
        for (auto& sums : engine_.end()) {
            const std::size_t count = sums.size();
            recorded.append(owned(std::move(sums), {count}));
        }
        return nb::make_tuple(recorded, owned(std::vector<std::int64_t>(engine_.digits()), {engine_.digits().size()}));
    }

    nb::object circuit_states() {
        std::vector<double> states;
        for (const auto& each : engine_.circuits()) states.insert(states.end(), {each.x[0].value, each.x[1].value});
        const std::size_t count = states.size() / 2;
        return owned(std::move(states), {count, 2});
    }
    void set_circuit_states(Indices which, In<double, nb::ndim<2>> states) {
        auto& circuits = engine_.circuits();
        for (std::size_t n = 0; n < which.shape(0); ++n)
            for (int x = 0; x < 2; ++x) circuits.at(which(n)).x[x] = cuda::flushed(states(n, x));
    }

    // Sums of recorder n as (frequencies, 2, ni, nj, nk), without dt.
    nb::object fourier(std::size_t n) {
        const auto& each = engine_.transforms().at(n);
        std::vector<Real> sums(each.sums.size());
        each.sums.read(sums.data());
        return owned(std::move(sums), shape_of(each.box, {std::size_t(each.frequencies), 2}));
    }
    void set_fourier(std::size_t n, In<Real, nb::ndim<5>> sums) {
        auto& each = engine_.transforms().at(n);
        if (sums.size() != each.sums.size()) throw std::invalid_argument("these sums are not of this recorder");
        each.sums.write(sums.data());
    }
    // Those taken so far and kept, as (number, ni, nj, nk).
    nb::object snapshot(std::size_t n) {
        const auto& each = engine_.copies().at(n);
        const std::size_t number = each.kept ? each.taken(engine_.step()) : 0;
        return owned(std::vector<Real>(each.values.begin(), each.values.begin() + number * each.box.samples()),
                     shape_of(each.box, {number}));
    }
    void set_snapshot(std::size_t n, In<Real, nb::ndim<4>> taken) {
        auto& each = engine_.copies().at(n);
        if (long(taken.size()) != each.kept * each.taken(engine_.step()) * each.box.samples())
            throw std::invalid_argument("these snapshots are not of this recorder");
        each.values.assign(taken.data(), taken.data() + taken.size());
    }
    void place_snapshots(std::size_t n, std::vector<Place> places) {
        auto& each = engine_.copies().at(n);
        each.places.clear();
        for (const Place& place : places) {
            const auto [ni, nj, nk] = each.box.shape();
            if (long(place.shape(0)) != ni || long(place.shape(1)) != nj || long(place.shape(2)) != nk ||
                place.stride(2) != 1)
                throw std::invalid_argument("a place is not of a snapshot's shape");
            each.places.push_back({place.data(), long(place.stride(0)), long(place.stride(1))});
        }
    }

    static nb::dict states(nb::handle_t<Card> self) {
        return views_of<Real>(self, nb::cast<Card&>(self).engine_.states());
    }
    void resume(long steps) { engine_.resume(steps); }
    void reset() { engine_.resume(0); }
    long step() const { return engine_.step(); }
    std::size_t coefficient_bytes() const { return engine_.coefficient_bytes(); }
    CardPoles<Real>& poles() { return poles_; }
    nb::dict facts() const {
        nb::dict d;
        d["bytes"] = engine_.bytes();
        d["palette_blocks"] = engine_.distinct_blocks();
        d["moved_bytes"] = engine_.moved_bytes();
        d["step"] = step();
        d["thread_ids"] = engine_.device().thread_ids();
        d["passes"] = engine_.passes() < 1 ? nb::cast(engine_.passes()) : nb::cast(int(engine_.passes()));
        d["graphs"] = engine_.device().graphs();
        d["record_bytes"] = engine_.placed().record_length * (engine_.in_sixteen_bits() ? 2 : sizeof(Real));
        return d;
    }

private:
    static constexpr const char* outside = "a column lies outside the table of its incident wave";
    std::array<long, 3> lengths() const { return {engine_.layout().na, engine_.layout().nb, engine_.layout().nc}; }
    void check(int component, long i, long j, long k) const {
        const auto [na, nb_, nc] = lengths();
        if (component < 0 || component >= 6 * engine_.parts() || i < 0 || j < 0 || k < 0 || i >= na || j >= nb_ ||
            k >= nc)
            throw std::out_of_range("a term lies outside the domain");
    }
    cuda::BoxOf box(int component, const std::array<long, 3>& lower, const std::array<long, 3>& upper) const {
        check(component, lower[0], lower[1], lower[2]);
        check(component, upper[0] - 1, upper[1] - 1, upper[2] - 1);
        return {component, lower, upper};
    }
    static std::vector<std::size_t> shape_of(const cuda::BoxOf& box, std::vector<std::size_t> leading) {
        for (const long extent : box.shape()) leading.push_back(extent);
        return leading;
    }

    cuda::CardEngine<Real> engine_;
    CardPoles<Real> poles_{engine_};
    std::vector<long> waves_needed_;  // columns of each incident wave
};

}  // namespace nearfield
