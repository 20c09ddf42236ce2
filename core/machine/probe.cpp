#include "machine/probe.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <barrier>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <exception>
#include <functional>
#include <future>
#include <memory>
#include <new>
#include <random>
#include <stdexcept>

#include "machine/pages.hpp"
#include "machine/processors.hpp"
#include "machine/stopping.hpp"

namespace nearfield {
namespace {

constexpr double kScalar = 3.0;
constexpr std::size_t kLine = 64;

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

// Fresh pages, large ones where the system grants them; touched by whoever writes first.
template <class T>
class Pages {
public:
    explicit Pages(std::size_t count) : count_(count) {
        void* found =
            mmap(nullptr, bytes(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (found == MAP_FAILED) throw std::bad_alloc();
        data_ = static_cast<T*>(found);
#ifdef MADV_HUGEPAGE
        madvise(found, bytes(), MADV_HUGEPAGE);
#endif
    }
    ~Pages() { munmap(data_, bytes()); }
    Pages(const Pages&) = delete;
    Pages& operator=(const Pages&) = delete;
    T* data() { return data_; }
    std::size_t size() const { return count_; }
    void fill(T value) { std::fill_n(data_, count_, value); }

private:
    std::size_t bytes() const { return count_ * sizeof(T); }
    std::size_t count_;
    T* data_;
};

// Binds the calling thread and has its next pages lie where the worker wants them.
std::unique_ptr<ThreadPolicy> placed(const MemoryWorker& worker) {
    bind_this_thread(worker.processors);
    return worker.node < 0 ? std::make_unique<ThreadPolicy>(MemoryPolicy::first_touch)
                           : std::make_unique<ThreadPolicy>(MemoryPolicy::bind, std::vector<int>{worker.node});
}

// Every worker on a thread of its own: `prepare` once, then `pass(worker, n)` for n = 0 ... passes - 1, all beginning
// together. Returns the seconds from the common beginning to the last end. The first exception is thrown here, `Stopped`
// between passes where the caller, who waits, is to end.
template <class Prepare, class Pass>
std::vector<double> timed_passes(const std::vector<MemoryWorker>& workers, int passes, Prepare prepare, Pass pass) {
    const std::size_t count = workers.size();
    if (count == 0 || passes < 1) throw std::invalid_argument("a probe needs a worker and a pass");
    std::barrier<> together(static_cast<std::ptrdiff_t>(count));
    std::vector<std::exception_ptr> failures(count);
    std::atomic<bool> failed{false}, stopped{false};
    std::atomic<int> last{passes};  // one past the last pass, which all know before it begins
    std::vector<double> seconds(passes);
    const auto work = [&](std::size_t n) {
        try {
            const auto policy = placed(workers[n]);
            prepare(n);
        } catch (...) {
            failures[n] = std::current_exception();
            failed = true;
        }
        together.arrive_and_wait();
        if (failed) return;
        for (int p = 0; p < passes; ++p) {
            if (n == 0 && stopped) last = p;
            together.arrive_and_wait();
            if (p >= last) return;
            const double begun = now();
            pass(n, p);
            together.arrive_and_wait();
            if (n == 0) seconds[p] = now() - begun;
        }
    };
    std::vector<std::future<void>> team;
    try {
        for (std::size_t n = 0; n < count; ++n) team.push_back(std::async(std::launch::async, work, n));
    } catch (...) {  // the system grants no more threads: those that wait for them must not
        failed = true;
        for (std::size_t n = team.size(); n < count; ++n) together.arrive_and_drop();
        throw;
    }
    Watch watch;
    while (team[0].wait_for(Watch::pause) != std::future_status::ready)
        if (!stopped && watch.stops()) stopped = true;
    for (std::future<void>& each : team) each.get();
    if (last < passes) throw Stopped();
    for (const std::exception_ptr& each : failures)
        if (each) std::rethrow_exception(each);
    return seconds;
}

struct Arrays {
    explicit Arrays(std::size_t n) : a(n), b(n), c(n) { a.fill(1.0), b.fill(2.0), c.fill(0.0); }
    Pages<double> a, b, c;
};

// Traffic a pass and element: copy and scale 16 bytes, add and triad 24, and 8 more for the line fetched before a
// write.
void loop(Arrays& x, int which) {
    double* __restrict a = x.a.data(), * __restrict b = x.b.data(), * __restrict c = x.c.data();
    const std::size_t n = x.a.size();
    switch (which) {
    case 0:
        for (std::size_t i = 0; i < n; ++i) c[i] = a[i];
        break;
    case 1:
        for (std::size_t i = 0; i < n; ++i) b[i] = kScalar * c[i];
        break;
    case 2:
        for (std::size_t i = 0; i < n; ++i) c[i] = a[i] + b[i];
        break;
    default:
        for (std::size_t i = 0; i < n; ++i) a[i] = b[i] + kScalar * c[i];
    }
}

// The sum of whole quarters, read as four streams at once: one stream alone waits for the prefetcher.
std::uint64_t sum(const std::uint64_t* words, std::size_t count) {
    const std::size_t quarter = count / 4;
    std::uint64_t total[4] = {};
    for (std::size_t i = 0; i < quarter; ++i)
        for (int part = 0; part < 4; ++part) total[part] += words[part * quarter + i];
    return total[0] + total[1] + total[2] + total[3];
}

// What a, b and c hold after so many rounds of the four loops, as STREAM checks it.
void check(Arrays& x, int rounds) {
    double a = 1.0, b = 2.0, c = 0.0;
    for (int n = 0; n < rounds; ++n) c = a, b = kScalar * c, c = a + b, a = b + kScalar * c;
    const std::size_t last = x.a.size() - 1;
    for (const std::size_t i : {std::size_t{0}, last / 2, last})
        if (x.a.data()[i] != a || x.b.data()[i] != b || x.c.data()[i] != c)
            throw std::runtime_error("STREAM's sums came out wrong");
}

}  // namespace

std::array<std::vector<double>, 4> stream_seconds(const std::vector<MemoryWorker>& workers, std::size_t elements,
                                                  int passes) {
    std::vector<std::unique_ptr<Arrays>> arrays(workers.size());
    const auto all = timed_passes(
        workers, 4 * passes, [&](std::size_t n) { arrays[n] = std::make_unique<Arrays>(elements); },
        [&](std::size_t n, int pass) { loop(*arrays[n], pass % 4); });
    for (const auto& each : arrays) check(*each, passes);
    std::array<std::vector<double>, 4> by_loop;
    for (int pass = 0; pass < 4 * passes; ++pass) by_loop[pass % 4].push_back(all[pass]);
    return by_loop;
}

std::vector<double> read_seconds(const std::vector<MemoryWorker>& workers, std::size_t bytes, int passes) {
    std::vector<std::unique_ptr<Pages<std::uint64_t>>> arrays(workers.size());
    std::vector<std::uint64_t> sums(workers.size());
    const std::size_t words = bytes / sizeof(std::uint64_t) / 4 * 4;
    auto seconds = timed_passes(
        workers, passes,
        [&](std::size_t n) {
            arrays[n] = std::make_unique<Pages<std::uint64_t>>(words);
            arrays[n]->fill(1);
        },
        [&](std::size_t n, int) { sums[n] += sum(arrays[n]->data(), words); });
    for (const std::uint64_t sum : sums)
        if (sum != words * std::uint64_t(passes)) throw std::runtime_error("the sum of what was read came out wrong");
    return seconds;
}

std::vector<double> chase_nanoseconds(const MemoryWorker& worker, std::size_t bytes, long loads, int passes) {
    struct alignas(kLine) Stop {
        std::uint64_t next;
    };
    const std::size_t stops = bytes / sizeof(Stop);
    if (stops < 2 || loads < 1) throw std::invalid_argument("a chase needs two lines of memory and a load");
    std::unique_ptr<Pages<Stop>> memory;
    std::uint64_t at = 0;
    auto seconds = timed_passes(
        {worker}, passes,
        [&](std::size_t) {
            memory = std::make_unique<Pages<Stop>>(stops);
            Stop* stop = memory->data();
            for (std::size_t n = 0; n < stops; ++n) stop[n].next = n;
            std::minstd_rand random(1);  // Sattolo's shuffle: one cycle through all
            for (std::size_t n = stops - 1; n > 0; --n)
                std::swap(stop[n].next, stop[std::uniform_int_distribution<std::size_t>(0, n - 1)(random)].next);
        },
        [&](std::size_t, int) {
            const Stop* stop = memory->data();
            std::uint64_t here = at;
            for (long n = 0; n < loads; ++n) here = stop[here].next;
            at = here;
        });
    if (at >= stops) throw std::runtime_error("the chase left its memory");
    for (double& each : seconds) each *= 1e9 / double(loads);
    return seconds;
}

}  // namespace nearfield
