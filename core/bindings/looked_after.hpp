// Steps of an engine, during which Ctrl-C and what Python asks are looked at now and then.
#pragma once

#include <nanobind/nanobind.h>

#include <exception>

namespace nearfield {

namespace nb = nanobind;

// What `make(look)` returns, made without the interpreter's lock. `look` asks for signals and calls `poll`, where it is
// not None. At true, at Ctrl-C and at an exception it says `stop` and looks no more; the exception is thrown here once
// the steps have ended.
template <class Make, class Stop>
bool looked_after(const nb::object& poll, const Make& make, const Stop& stop) {
    std::exception_ptr thrown;
    bool stopped = false, complete;
    {
        const nb::gil_scoped_release release;
        complete = make([&] {
            if (stopped) return;
            const nb::gil_scoped_acquire acquire;
            try {
                if (PyErr_CheckSignals()) throw nb::python_error();
                stopped = !poll.is_none() && nb::cast<bool>(poll());
            } catch (...) {
                thrown = std::current_exception();
                stopped = true;
            }
            if (stopped) stop();
        });
    }
    if (thrown) std::rethrow_exception(thrown);
    return complete;
}

}  // namespace nearfield
