// Devices of the engine `cuda` in the core's module: the make-believe one, cards by their driver, and the text of the
// kernels, which is compiled for a card where it is found (engines/cuda/compiler.py).
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "cuda/card_device.hpp"
#include "cuda/card_probe.hpp"
#include "cuda/kernel_texts.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace nearfield::cuda {

static nb::dict dict_of(const CardFacts& card) {
    nb::dict d;
    d["name"] = card.name, d["bus"] = card.bus, d["architecture"] = nb::make_tuple(card.major, card.minor);
    d["memory"] = card.memory, d["multiprocessors"] = card.multiprocessors;
    d["memory_rate"] = card.memory_rate, d["node"] = card.node;
    return d;
}

static nb::list kernels_of(const CardDevice& device) {
    nb::list all;
    for (const auto& each : device.kernels()) {
        nb::dict d;
        d["name"] = each.name, d["registers"] = each.registers, d["local_bytes"] = each.local_bytes;
        all.append(d);
    }
    return all;
}

static std::shared_ptr<HostDevice> host_device(const std::string& order, long threads) {
    if (order != "forwards" && order != "backwards") throw std::invalid_argument("blocks run forwards or backwards");
    return std::make_shared<HostDevice>(order == "backwards", threads);
}

static std::shared_ptr<CardDevice> card_device(const std::string& driver, int number, const nb::list& cubins,
                                               bool urgent) {
    std::vector<std::string> images;
    for (nb::handle each : cubins) {
        const auto cubin = nb::cast<nb::bytes>(each);
        images.emplace_back(cubin.c_str(), cubin.size());
    }
    return std::make_shared<CardDevice>(driver, number, images, urgent);
}

// Bytes on a device, copied as a whole or from the first on.
class DeviceMemory {
public:
    using Given = nb::ndarray<const std::uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
    using Wanted = nb::ndarray<std::uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
    DeviceMemory(std::shared_ptr<Device> device, std::size_t bytes)
        : device_(std::move(device)), memory_(*device_, bytes) {}
    // Both return when the host's bytes are read or written; `wait` when all is done.
    void write(const Given& from) {
        check(from.size());
        const nb::gil_scoped_release release;
        device_->write(memory_.data(), from.data(), from.size());
    }
    void read(const Wanted& to) const {
        check(to.size());
        const nb::gil_scoped_release release;
        device_->read(to.data(), memory_.data(), to.size());
    }
    void wait() const {
        const nb::gil_scoped_release release;
        device_->wait();
    }

private:
    void check(std::size_t bytes) const {
        if (bytes > memory_.size()) throw std::out_of_range("more bytes than this memory of a device has");
    }
    std::shared_ptr<Device> device_;
    Buffer<std::uint8_t> memory_;
};

static void bind(nb::module_& m) {
    nb::exception<NoDriver>(m, "NoDriver");
    const auto failed = nb::exception<CardError>(m, "CardError");
    nb::exception<DeviceFull>(m, "CardFull", failed.ptr());
    nb::class_<Device>(m, "Device");
    nb::class_<HostDevice, Device>(m, "HostDevice").def(nb::new_(&host_device), "order"_a, "threads"_a = 1);
    nb::class_<CardDevice, Device>(m, "CardDevice")
        .def(nb::new_(&card_device), "driver"_a, "number"_a, "cubins"_a, "urgent"_a = false)
        .def("kernels", &kernels_of)
        .def("facts", [](const CardDevice& device) { return dict_of(device.facts()); })
        .def("free_memory", &CardDevice::free_bytes)
        .def("pinned_node", &CardDevice::pinned_node);
    m.def("node_of_bus", &node_of_bus, "bus"_a, "devices"_a);
    nb::class_<DeviceMemory>(m, "DeviceMemory")
        .def(nb::init<std::shared_ptr<Device>, std::size_t>(), "device"_a, "bytes"_a)
        .def("write", &DeviceMemory::write, "values"_a)
        .def("read", &DeviceMemory::read, "values"_a)
        .def("wait", &DeviceMemory::wait);
    m.def("driver_version", [](const std::string& driver) { return Driver::at(driver).version(); });
    m.def("cards", [](const std::string& path) {
        const Driver& driver = Driver::at(path);
        nb::list all;
        for (std::size_t n = 0; n < driver.devices().size(); ++n) all.append(dict_of(card_facts(driver, int(n))));
        return all;
    });
    m.def("free_memory", [](const std::string& driver, int number) { return free_memory(Driver::at(driver), number); });
    m.def("copy_seconds", &copy_seconds, "driver"_a, "number"_a, "kind"_a, "bytes"_a, "passes"_a,
          nb::call_guard<nb::gil_scoped_release>());
    m.def("kernel_texts", [] {
        nb::dict texts;
        for (const KernelText& each : kernel_texts) texts[each.name] = nb::bytes(each.text, each.size);
        return texts;
    });
}

}  // namespace nearfield::cuda

void bind_devices(nb::module_& m) {
    nb::module_ devices = m.def_submodule("devices");
    nearfield::cuda::bind(devices);
}
