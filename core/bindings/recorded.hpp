// Arrays from and for Python, and the weighted sums that a block of steps recorded.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <vector>

#include "operations/products.hpp"
#include "states.hpp"

namespace nearfield {

namespace nb = nanobind;

template <class T, class... Shape>
using In = nb::ndarray<const T, nb::numpy, nb::c_contig, nb::device::cpu, Shape...>;
using Indices = In<std::int64_t, nb::ndim<1>>;
using Doubles = In<double, nb::ndim<1>>;
using Places = In<std::int64_t, nb::ndim<2>>;

template <class T>
nb::object owned(std::vector<T>&& values, std::vector<std::size_t> shape) {
    auto* held = new std::vector<T>(std::move(values));
    nb::capsule owner(held, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    return nb::cast(nb::ndarray<nb::numpy, T>(held->data(), shape.size(), shape.data(), owner));
}

// State arrays by name, as strided views that keep their owner alive: name -> (half step, array).
template <class Real>
nb::dict views_of(nb::handle owner, const std::vector<StateArray>& states) {
    nb::dict views;
    for (const StateArray& s : states) {
        const std::vector<std::size_t> shape(s.shape.begin(), s.shape.end());
        const std::vector<std::int64_t> stride(s.stride.begin(), s.stride.end());
        views[s.name.c_str()] = nb::make_tuple(
            s.half,
            nb::ndarray<nb::numpy, Real>(static_cast<Real*>(s.data), shape.size(), shape.data(), owner, stride.data()));
    }
    return views;
}

// Inverse lengths, decays and drives of the profiles of E and H along an axis of so many cells.
template <class Real>
void fill_profile(Profile<Real>& e, Profile<Real>& h, long length, const std::array<In<Real, nb::ndim<1>>, 6>& values) {
    std::vector<Real>* const targets[6] = {&e.inverse, &h.inverse, &e.decay, &e.drive, &h.decay, &h.drive};
    for (int n = 0; n < 6; ++n) {
        if (long(values[n].shape(0)) != length) throw std::invalid_argument("profile has a wrong length");
        targets[n]->assign(padded(length), Real(0));
        std::copy_n(values[n].data(), length, targets[n]->begin());
    }
}

template <class Real>
void check_coefficients(const Layout& l, long first, long last, const In<Real, nb::ndim<3>>& a,
                        const In<Real, nb::ndim<3>>& b) {
    for (const auto* x : {&a, &b})
        if (x->shape(0) != 3 || long(x->shape(1)) != l.nb || long(x->shape(2)) != l.nc)
            throw std::invalid_argument("coefficient planes must be (3, nb, nc)");
    if (first < 0 || last > l.na) throw std::invalid_argument("coefficient planes lie outside the domain");
}

// A weighted sum whose terms lie in several rows.
template <class Real>
struct Functional {
    std::vector<Products<Real>*> parts;
    std::vector<std::array<long, 3>> in_order;  // place in the sum, part, number within the part; sorted
    long terms;
    bool whole;  // all of its terms are here

    double product(std::size_t sample, std::size_t n) const {
        const Products<Real>& part = *parts[in_order[n][1]];
        return part.products[sample * part.k.size() + in_order[n][2]];
    }
    std::size_t samples() const { return parts.empty() ? 0 : parts[0]->samples(); }
    nb::object sums() const {
        std::vector<double> sums(samples(), 0.0);
        for (std::size_t sample = 0; sample < sums.size(); ++sample)
            for (std::size_t n = 0; n < in_order.size(); ++n) sums[sample] += product(sample, n);
        const std::size_t length = sums.size();
        return owned(std::move(sums), {length});
    }
    // (samples, terms), zero where a term is another's.
    nb::object products() const {
        std::vector<double> products(samples() * terms, 0.0);
        for (std::size_t sample = 0; sample < samples(); ++sample)
            for (std::size_t n = 0; n < in_order.size(); ++n)
                products[sample * terms + in_order[n][0]] = product(sample, n);
        return owned(std::move(products), {samples(), std::size_t(terms)});
    }
    nb::object recorded() const { return whole ? sums() : products(); }
};

}  // namespace nearfield
