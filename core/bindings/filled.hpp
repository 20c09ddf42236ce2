// Arrays for Python, filled without its lock.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <memory>
#include <vector>

namespace nearfield {

template <class Entry, class Fill>
nanobind::ndarray<Entry, nanobind::numpy> filled(std::vector<std::size_t> shape, const Fill& fill) {
    std::size_t size = 1;
    for (const auto n : shape) size *= n;
    auto values = std::make_unique_for_overwrite<Entry[]>(size);
    {
        const nanobind::gil_scoped_release release;
        fill(values.get());
    }
    Entry* const data = values.release();
    nanobind::capsule owner(data, [](void* p) noexcept { delete[] static_cast<Entry*>(p); });
    return {data, shape.size(), shape.data(), owner};
}

}  // namespace nearfield
