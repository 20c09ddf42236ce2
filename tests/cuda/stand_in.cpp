// A library in place of NVIDIA's driver and of NVRTC, for tests on machines without a card: the calls that the engine
// makes, on the make-believe card of stand_in.hpp, whose kernels are those of core/cuda built for this processor.
// What a call does is in NVIDIA's reference of the driver's interface; what no test asks for is not there.
#include "stand_in.hpp"

using namespace stand_in;
using nearfield::cuda::Kernel;

#define CALL extern "C" __attribute__((visibility("default"))) int

static std::vector<Stream*> streams;
static void run_all() {
    for (Stream* stream : streams) stream->run();
}
// While a thread captures, a driver refuses it what no graph can hold. Kernels must be known by then as well: a driver
// may load them as late as they are asked for.
static bool captures() {
    const auto here = std::this_thread::get_id();
    return std::any_of(streams.begin(), streams.end(),
                       [=](const Stream* stream) { return stream->capture && stream->capturing == here; });
}
static std::vector<const Kernel*> kernels() {
    using namespace nearfield::cuda;
    std::vector<const Kernel*> all{&sweep_slab_one, &sweep_slab_two};
    for (const auto* pair : {tick, sweep_one, sweep_two, sweep_carry, halo})
        all.insert(all.end(), {&pair[0], &pair[1]});
    for (const auto* three : {half_step_electric, half_step_magnetic, poles, points, remember_points, incident,
                              coupling, seam, spectrum, copy_box, energy})
        all.insert(all.end(), {&three[0], &three[1], &three[2]});
    return all;
}

// ---- the driver and its cards

CALL cuInit(unsigned) { return setting("devices", 1) > 0 ? done : no_device; }
CALL cuDriverGetVersion(int* version) { return *version = int(setting("version", 13000)), done; }
CALL cuGetErrorName(int code, const char** name) {
    static const std::map<int, const char*> names = {{invalid, "CUDA_ERROR_INVALID_VALUE"},
                                                     {out_of_memory, "CUDA_ERROR_OUT_OF_MEMORY"},
                                                     {bad_image, "CUDA_ERROR_INVALID_IMAGE"},
                                                     {not_found, "CUDA_ERROR_NOT_FOUND"},
                                                     {failed, "CUDA_ERROR_LAUNCH_FAILED"}};
    const auto found = names.find(code);
    if (found == names.end()) return invalid;
    return *name = found->second, done;
}
CALL cuGetErrorString(int code, const char** text) {
    return *text = code == failed ? "unspecified launch failure" : "no", done;
}
CALL cuDeviceGetCount(int* count) { return *count = int(setting("devices", 1)), done; }
CALL cuDeviceGet(int* device, int number) { return *device = 10 + number, done; }
CALL cuDeviceGetName(char* name, int length, int) { return std::strncpy(name, "Stand-in", length), done; }
CALL cuDeviceTotalMem_v2(std::size_t* bytes, int) { return *bytes = Memory::total(), done; }
CALL cuDeviceGetPCIBusId(char* text, int length, int) { return std::strncpy(text, "0000:00:00.0", length), done; }
CALL cuDeviceGetAttribute(int* value, int which, int) {
    const int architecture = int(setting("architecture", 90));
    if (which == 75) return *value = architecture / 10, done;
    if (which == 76) return *value = architecture % 10, done;
    if (which == 36) return *value = int(setting("memory_clock", 3201000)), done;  // kHz
    if (which == 16) return *value = int(setting("multiprocessors", 132)), done;
    if (which == 97) return *value = int(setting("block_memory", 227 << 10)), done;
    if (which == 37) return *value = 6144, done;  // bits
    return invalid;
}
CALL cuDevicePrimaryCtxRetain(void** context, int) { return *context = &card(), done; }
CALL cuDevicePrimaryCtxRelease_v2(int) { return done; }
CALL cuCtxSetCurrent(void*) { return done; }
CALL cuMemGetInfo_v2(std::size_t* free, std::size_t* total) {
    return *free = card().memory.free(), *total = Memory::total(), card().error;
}

// ---- memory

CALL cuMemAlloc_v2(Address* address, std::size_t bytes) {
    if (card().error) return card().error;
    if (captures()) return not_in_a_capture;
    return (*address = card().memory.allocate(bytes)) ? done : out_of_memory;
}
CALL cuMemFree_v2(Address address) {
    if (captures()) return not_in_a_capture;
    run_all();
    return card().memory.release(address) ? card().error : invalid;
}
CALL cuMemHostAlloc(void** memory, std::size_t bytes, unsigned) {
    if (captures()) return not_in_a_capture;
    return (*memory = std::malloc(bytes)) ? done : out_of_memory;
}
CALL cuMemFreeHost(void* memory) { return std::free(memory), done; }
// Memory of the host is read and written when the copy's turn comes, as that of pinned pages is.
static int copy(void* stream, void* to, const void* from, std::size_t bytes, const char* rate, double otherwise) {
    if (card().error) return card().error;
    const double seconds = setting("latency", 1e-5) + bytes / setting(rate, otherwise);
    static_cast<Stream*>(stream)->add([=] {
        if (!card().error) card().memory.open([&] { std::memcpy(to, from, bytes); });
        card().clock += seconds;
    });
    return done;
}
static void* at(Address address) { return reinterpret_cast<void*>(address); }
CALL cuMemcpyHtoDAsync_v2(Address to, const void* from, std::size_t bytes, void* stream) {
    ++card().host_copies;
    return card().memory.holds(to, bytes) ? copy(stream, at(to), from, bytes, "to_card", 25e9) : invalid;
}
CALL cuMemcpyDtoHAsync_v2(void* to, Address from, std::size_t bytes, void* stream) {
    ++card().host_copies;
    return card().memory.holds(from, bytes) ? copy(stream, to, at(from), bytes, "to_host", 20e9) : invalid;
}
CALL cuMemcpyDtoDAsync_v2(Address to, Address from, std::size_t bytes, void* stream) {
    const bool held = card().memory.holds(to, bytes) && card().memory.holds(from, bytes);
    return held ? copy(stream, at(to), at(from), bytes, "on_card", 2e12) : invalid;
}
CALL cuMemsetD8Async(Address to, unsigned char value, std::size_t bytes, void* stream) {
    if (!card().memory.holds(to, bytes)) return invalid;
    static_cast<Stream*>(stream)->add([=] { card().memory.open([&] { std::memset(at(to), value, bytes); }); });
    return card().error;
}

// ---- streams and events

CALL cuStreamCreate(void** stream, unsigned) {
    streams.push_back(new Stream);
    return *stream = streams.back(), card().error;
}
CALL cuCtxGetStreamPriorityRange(int* least, int* greatest) { return *least = 0, *greatest = -5, done; }
CALL cuStreamCreateWithPriority(void** stream, unsigned flags, int priority) {
    cuStreamCreate(stream, flags);
    static_cast<Stream*>(*stream)->priority = priority;
    return card().error;
}
CALL cuStreamDestroy_v2(void* stream) {
    streams.erase(std::find(streams.begin(), streams.end(), stream));
    return delete static_cast<Stream*>(stream), done;
}
CALL cuStreamSynchronize(void* stream) {
    if (static_cast<Stream*>(stream)->capture) return not_in_a_capture;
    return static_cast<Stream*>(stream)->run(), card().error;
}
CALL cuEventCreate(void** event, unsigned) { return *event = new Event, card().error; }
CALL cuEventDestroy_v2(void* event) { return delete static_cast<Event*>(event), done; }
CALL cuEventRecord(void* event, void* stream) {
    auto& e = *static_cast<Event*>(event);
    auto& s = *static_cast<Stream*>(stream);
    if (s.capture) return invalid;
    s.add([&e] { e.at = card().clock; });
    e.stream = &s, e.number = s.begun;
    return card().error;
}
CALL cuEventSynchronize(void* event) {
    auto& e = *static_cast<Event*>(event);
    if (e.stream) e.stream->run_until(e.number);
    return card().error;
}
CALL cuEventQuery(void* event) {
    const auto held = alone();
    const auto& e = *static_cast<Event*>(event);
    if (card().error) return card().error;
    if (e.stream && e.stream->ended < e.number) {
        e.stream->run_until(e.stream->ended + 1);  // time goes by
        return not_ready;
    }
    return done;
}
CALL cuStreamWaitEvent(void* stream, void* event, unsigned) {
    const Event e = *static_cast<Event*>(event);
    if (static_cast<Stream*>(stream)->capture) return invalid;
    static_cast<Stream*>(stream)->add([e] {
        if (e.stream) e.stream->run_until(e.number);
    });
    return card().error;
}
CALL cuEventElapsedTime(float* milliseconds, void* from, void* to) {
    return *milliseconds = float(1e3 * (static_cast<Event*>(to)->at - static_cast<Event*>(from)->at)), done;
}

// ---- kernels and graphs

CALL cuModuleLoadData(void** module, const void* image) {
    if (captures()) return not_in_a_capture;
    const std::string text = static_cast<const char*>(image);
    if (text.rfind("stand-in ", 0) != 0) return bad_image;
    return *module = new std::string(text), done;
}
CALL cuModuleUnload(void* module) { return delete static_cast<std::string*>(module), done; }
CALL cuModuleGetFunction(void** function, void* module, const char* name) {
    if (captures()) return not_in_a_capture;
    const std::string wanted = name, base = wanted.substr(0, wanted.rfind('_'));
    const auto defines = [&](const char* macro) {
        return static_cast<std::string*>(module)->find(macro + ("(" + base + ",")) != std::string::npos;
    };
    if (!defines("NEARFIELD_KERNEL") && !defines("NEARFIELD_KERNEL_OF") && !defines("NEARFIELD_KERNEL_IN_SINGLE") &&
        !defines("NEARFIELD_FIELD_KERNEL"))
        return not_found;
    for (const Kernel* kernel : kernels())
        if (wanted == kernel->name) return *function = const_cast<Kernel*>(kernel), done;
    return not_found;
}
CALL cuFuncGetAttribute(int* value, int which, void*) { return *value = which == 4 ? 42 : 0, done; }
static std::set<const void*> may_share_more;  // functions whose blocks were allowed more than 48 KiB
CALL cuFuncSetAttribute(void* function, int which, int value) {
    if (which == 9) return done;
    if (which != 8 || value > int(setting("block_memory", 227 << 10))) return invalid;
    const auto held = alone();
    return may_share_more.insert(function), done;
}
CALL cuLaunchKernel(void* function, unsigned blocks, unsigned, unsigned, unsigned threads, unsigned, unsigned,
                    unsigned shared, void* stream, void** parameters, void**) {
    const auto& kernel = *static_cast<const Kernel*>(function);
    const auto held = alone();
    if (card().error) return card().error;
    if (!blocks || threads != 256 || shared != kernel.memory) return invalid;
    if (shared > 48 << 10 && !may_share_more.contains(function)) return invalid;
    const auto* const bytes = static_cast<const char*>(parameters[0]);
    std::vector<char> arguments(bytes, bytes + kernel.arguments);
    static_cast<Stream*>(stream)->add([&kernel, blocks, arguments] { card().make(kernel, blocks, arguments); });
    return done;
}
CALL cuStreamBeginCapture_v2(void* stream, int) {
    static_cast<Stream*>(stream)->capturing = std::this_thread::get_id();
    return static_cast<Stream*>(stream)->capture = std::make_unique<Graph>(), card().error;
}
CALL cuStreamEndCapture(void* stream, void** graph) {
    return *graph = static_cast<Stream*>(stream)->capture.release(), card().error;
}
CALL cuGraphInstantiateWithFlags(void** executable, void* graph, unsigned long long) {
    return *executable = new Graph(*static_cast<Graph*>(graph)), card().error;
}
CALL cuGraphLaunch(void* executable, void* stream) {
    if (card().error) return card().error;
    const Graph graph = *static_cast<Graph*>(executable);
    static_cast<Stream*>(stream)->add([graph] { graph.run(), ++card().graph_launches; });
    return done;
}
CALL cuGraphDestroy(void* graph) { return delete static_cast<Graph*>(graph), done; }
CALL cuGraphExecDestroy(void* graph) { return delete static_cast<Graph*>(graph), done; }

// ---- the compiler: its code is the text, which it takes only as the engine must give it

CALL nvrtcVersion(int* major, int* minor) { return *major = int(setting("nvrtc", 13)), *minor = 5, done; }
CALL nvrtcGetNumSupportedArchs(int* count) { return *count = 2, done; }
CALL nvrtcGetSupportedArchs(int* all) { return all[0] = 80, all[1] = 90, done; }
CALL nvrtcCreateProgram(void** program, const char* text, const char*, int, const char* const*, const char* const*) {
    return *program = new std::string("stand-in " + std::string(text)), done;
}
CALL nvrtcCompileProgram(void*, int count, const char* const* options) {
    std::string all;
    for (int n = 0; n < count; ++n) all += std::string(" ") + options[n];
    const bool exact = all.find("--fmad=false") != std::string::npos && all.find("--ftz=true") != std::string::npos;
    return exact ? done : 6;
}
CALL nvrtcGetProgramLogSize(void*, std::size_t* size) { return *size = 1, done; }
CALL nvrtcGetProgramLog(void*, char* log) { return *log = 0, done; }
CALL nvrtcGetCUBINSize(void* program, std::size_t* size) {
    return *size = static_cast<std::string*>(program)->size() + 1, done;
}
CALL nvrtcGetCUBIN(void* program, char* code) {
    const std::string& text = *static_cast<std::string*>(program);
    return std::memcpy(code, text.c_str(), text.size() + 1), done;
}
CALL nvrtcDestroyProgram(void** program) { return delete static_cast<std::string*>(*program), done; }
extern "C" __attribute__((visibility("default"))) const char* nvrtcGetErrorString(int) { return "no"; }

// ---- for tests

CALL stand_in_revive() {
    run_all();
    return card().error = 0, card().launches = card().graph_launches = 0, done;
}
CALL stand_in_graph_launches() { return int(card().graph_launches); }
// Streams that are there of a priority.
CALL stand_in_streams(int priority) {
    return int(std::count_if(streams.begin(), streams.end(), [=](Stream* each) { return each->priority == priority; }));
}
CALL stand_in_host_copies() { return int(card().host_copies); }
CALL stand_in_launches() { return int(card().launches); }
// None: nobody is told.
CALL stand_in_observe(Observer observer) { return card().observer = observer, done; }
// Addresses and lengths of what is allocated on the card, as many as there is room for; how many there are.
CALL stand_in_buffers(Address* addresses, std::size_t* lengths, int room) {
    int count = 0;
    for (const auto& [at, length] : card().memory.buffers()) {
        if (count < room) addresses[count] = reinterpret_cast<Address>(at), lengths[count] = length;
        ++count;
    }
    return count;
}
