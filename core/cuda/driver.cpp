#include "driver.hpp"

#include "pinned.hpp"

#include <dlfcn.h>

#include <map>
#include <memory>
#include <mutex>

namespace nearfield::cuda {

constexpr int out_of_memory = 2;  // CUDA_ERROR_OUT_OF_MEMORY
constexpr int no_device = 100;    // CUDA_ERROR_NO_DEVICE
// CU_DEVICE_ATTRIBUTE_...
constexpr int multiprocessor_count = 16, memory_kilohertz = 36, memory_bits = 37, major_of = 75, minor_of = 76,
              block_memory_at_most = 97;

const Driver& Driver::at(const std::string& path) {
    static std::mutex one_at_a_time;
    static std::map<std::string, std::unique_ptr<Driver>> loaded;
    const std::lock_guard guard(one_at_a_time);
    auto& driver = loaded[path];
    if (!driver) driver.reset(new Driver(path));
    return *driver;
}

Driver::Driver(const std::string& path) {
    void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library) throw NoDriver(dlerror());
#define NEARFIELD_FIND(name, symbol, ...)                                  \
    name = reinterpret_cast<int (*)(__VA_ARGS__)>(dlsym(library, symbol)); \
    if (!name) throw NoDriver(path + " has no function " symbol ": it is too old");
    NEARFIELD_DRIVER_CALLS(NEARFIELD_FIND)
#undef NEARFIELD_FIND
}

void Driver::check(int result, const char* call) const {
    if (!result) return;
    const char *name = nullptr, *text = nullptr;
    error_name(result, &name), error_text(result, &text);
    const std::string words = std::string(call) + ": " + (name ? name : "error " + std::to_string(result)) +
                              (text ? std::string(", ") + text : "");
    if (result == out_of_memory) throw CardFull(words);
    throw CardError(words);
}

int Driver::version() const {
    int number = 0;
    check(driver_version(&number), "cuDriverGetVersion");
    return number;
}

std::vector<int> Driver::devices() const {
    const int begun = init(0);
    int count = 0;
    if (begun != no_device) {
        check(begun, "cuInit");
        const int counted = device_count(&count);
        if (counted != no_device) check(counted, "cuDeviceGetCount");
    }
    std::vector<int> all(count);
    for (int n = 0; n < count; ++n) check(device(&all[n], n), "cuDeviceGet");
    return all;
}

CardFacts card_facts(const Driver& driver, int number) {
    const int device = driver.devices().at(number);
    CardFacts facts{};
    char text[256] = {};
    driver.check(driver.device_name(text, sizeof(text) - 1, device), "cuDeviceGetName");
    facts.name = text;
    driver.check(driver.device_bus(text, sizeof(text) - 1, device), "cuDeviceGetPCIBusId");
    facts.bus = text, facts.node = node_of_bus(facts.bus);
    driver.check(driver.device_memory(&facts.memory, device), "cuDeviceTotalMem");
    const auto attribute = [&](int* value, int which) {
        driver.check(driver.device_attribute(value, which, device), "cuDeviceGetAttribute");
    };
    attribute(&facts.major, major_of), attribute(&facts.minor, minor_of);
    attribute(&facts.multiprocessors, multiprocessor_count);
    int shared = 0;
    attribute(&shared, block_memory_at_most);
    facts.block_memory = std::size_t(shared);
    int kilohertz = 0, bits = 0;
    attribute(&kilohertz, memory_kilohertz), attribute(&bits, memory_bits);
    facts.memory_rate = 2 * 1e3 * kilohertz * bits / 8;  // two transfers a clock
    return facts;
}

std::size_t free_memory(const Driver& driver, int number) {
    const int device = driver.devices().at(number);
    void* context = nullptr;
    driver.check(driver.retain_context(&context, device), "cuDevicePrimaryCtxRetain");
    std::size_t free = 0, total = 0;
    int result = driver.set_context(context);
    if (!result) result = driver.memory_info(&free, &total);
    driver.release_context(device);
    driver.check(result, "cuMemGetInfo");
    return free;
}

}  // namespace nearfield::cuda
