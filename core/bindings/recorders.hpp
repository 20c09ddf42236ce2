// The recorders of an engine as Python adds them, reads them and fills them again.
#pragma once

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

#include "arguments.hpp"
#include "engine.hpp"
#include "operations/snapshots.hpp"
#include "operations/spectrum.hpp"
#include "recorded.hpp"

namespace nearfield {

template <class Real>
class Recorders {
public:
    using Place = nb::ndarray<Real, nb::numpy, nb::ndim<3>, nb::device::cpu>;
    using Phasors = std::vector<In<Real, nb::ndim<3>>>;  // of each spectrum, (steps, frequencies, 2)

    explicit Recorders(Engine<Real>& engine) : engine_(engine) {}

    // Samples sorted by row, each with its place in the sum of `terms` terms. What is recorded are sums if this block
    // holds all of them, else the products, (samples, terms), zero where they are another's.
    void add_functional(In<std::int64_t, nb::ndim<1>> component, Indices i, Indices j, Indices k, Doubles weight,
                        Indices place, long terms, long stride) {
        Functional<Real> sum{{}, {}, terms, long(i.shape(0)) == terms};
        for (std::size_t n = 0; n < i.shape(0); ++n) {
            check_sample(engine_, int(component(n)), i(n), j(n), k(n));
            auto& parts = sum.parts;
            if (parts.empty() || parts.back()->component != component(n) || parts.back()->span.a[0] != i(n) ||
                parts.back()->span.b[0] != j(n)) {
                auto fresh = std::make_unique<Products<Real>>(int(component(n)), i(n), j(n), stride);
                parts.push_back(fresh.get());
                engine_.operations().add(std::move(fresh));
            }
            sum.in_order.push_back({place(n), long(parts.size()) - 1, long(parts.back()->k.size())});
            parts.back()->k.push_back(k(n));
            parts.back()->weight.push_back(weight(n));
        }
        std::sort(sum.in_order.begin(), sum.in_order.end());
        functionals_.push_back(std::move(sum));
    }

    void add_fourier(int component, std::array<long, 3> lower, std::array<long, 3> upper, long frequencies,
                     long stride) {
        auto box = std::make_unique<Spectrum<Real>>(component, span(component, lower, upper), lower[2],
                                                    upper[2] - lower[2], frequencies, stride, engine_.rows());
        spectra_.push_back(box.get());
        engine_.operations().add(std::move(box));
    }

    void add_snapshot(int component, std::array<long, 3> lower, std::array<long, 3> upper, Indices steps, bool keep,
                      Real unit) {
        auto box = std::make_unique<Snapshots<Real>>(
            component, span(component, lower, upper), lower[2], upper[2] - lower[2],
            std::vector<long>(steps.data(), steps.data() + steps.shape(0)), keep, unit, engine_.rows());
        snapshots_.push_back(box.get());
        engine_.operations().add(std::move(box));
    }

    void check_phasors(const Phasors& phasors, long steps) const {
        if (phasors.size() != spectra_.size()) throw std::invalid_argument("tables do not fit the block of steps");
        for (std::size_t n = 0; n < phasors.size(); ++n)
            if (long(phasors[n].shape(0)) < steps || long(phasors[n].shape(1)) != spectra_[n]->frequencies ||
                phasors[n].shape(2) != 2)
                throw std::invalid_argument("phasor table does not fit its Fourier recorder");
    }
    void add_phasors(const Phasors& phasors, long steps) {
        for (std::size_t n = 0; n < phasors.size(); ++n)
            spectra_[n]->add_phasors(phasors[n].data(), engine_.step(), steps);
    }
    // What each functional recorded in the block.
    nb::list recorded() const {
        nb::list all;
        for (const Functional<Real>& sum : functionals_) all.append(sum.recorded());
        return all;
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

    // Where the snapshots of recorder n in the next block go, (ni, nj, nk) each with rows of unit stride, if it keeps
    // none.
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
        std::vector<Real> values;
        values.reserve(number * box.samples());
        for (std::size_t each = 0; each < number; ++each) {
            const Real* const own = box.taken_values[each].get();
            values.insert(values.end(), own, own + box.samples());
        }
        return owned(std::move(values), box_shape({number}, box.span, box.length));
    }

    void resume(long steps) {
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
        const long number = box.kept ? box.taken(engine_.step()) : 0, samples = box.samples();
        if (long(taken.size()) != number * samples)
            throw std::invalid_argument("these snapshots are not of this recorder");
        box.taken_values.clear();
        box.make_room(number);
        for (long each = 0; each < number; ++each)
            std::copy_n(taken.data() + each * samples, samples, box.taken_values[each].get());
    }

    std::size_t bytes() const {
        std::size_t sum = 0;
        for (const auto* box : spectra_) sum += box->bytes();
        for (const auto* box : snapshots_) sum += box->bytes();
        return sum;
    }

private:
    RowSpan span(int component, const std::array<long, 3>& lower, const std::array<long, 3>& upper) {
        check_sample(engine_, component, lower[0], lower[1], lower[2]);
        check_sample(engine_, component, upper[0] - 1, upper[1] - 1, upper[2] - 1);
        return {{lower[0], upper[0]}, {lower[1], upper[1]}};
    }
    static std::vector<std::size_t> box_shape(std::vector<std::size_t> leading, const RowSpan& rows, long cells) {
        for (const long extent : {rows.a[1] - rows.a[0], rows.b[1] - rows.b[0], cells}) leading.push_back(extent);
        return leading;
    }

    Engine<Real>& engine_;
    std::vector<Functional<Real>> functionals_;
    std::vector<Spectrum<Real>*> spectra_;
    std::vector<Snapshots<Real>*> snapshots_;
};

}  // namespace nearfield
