// Arrays for Python, and the weighted sums that a block of steps recorded.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <array>
#include <vector>

#include "operations/products.hpp"

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
