#include "schedule/loop.hpp"

#include <time.h>

#include <chrono>
#include <mutex>
#include <system_error>
#include <thread>

#include "machine/processors.hpp"
#include "machine/stopping.hpp"

namespace nearfield::schedule {

namespace {

std::atomic<Kind> chosen_kind{Kind::local};
std::mutex counting;
Counters total;
std::atomic<bool> recording{false};
std::vector<std::vector<double>> kept_seconds;
thread_local int node_here = 0;
thread_local int loops_here = 0;  // that the thread is in, one within a block of another

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

bool bound_to(const std::vector<int>& processors) {
    try {
        bind_this_thread(processors);
        return !processors.empty();
    } catch (const std::system_error&) {  // a container that forbids it: counted as not bound
        return false;
    }
}

// All that one thread does, until all is done or one `stopped`, which the first asks for where no other loop waits for
// this one. Its own counters: a line of memory that threads share would be what they wait for.
Counters serve(Ranges& ranges, const Layout& layout, int thread, const std::function<void(long, long)>& work,
               std::atomic<bool>& stopped) {
    Counters mine;
    Watch watch;
    const int before = node_here;
    const bool asks = thread == 0 && loops_here++ == 0;
    node_here = layout.node_of_thread[thread];
    if (!layout.processors.empty()) mine.bound = bound_to(layout.processors[node_here]);
    for (double begun = now();;) {
        const Share share = ranges.take(thread);
        if (share.empty() || stopped) break;
        for (long block = share.begin; block < share.end && !stopped; ++block) {
            work(block, block + 1);
            if (asks && watch.stops()) stopped = true;
        }
        const double ended = now();
        const auto nearness = ranges.nearness(thread, share.home);
        mine.blocks[nearness] += share.end - share.begin;
        mine.seconds[nearness] += ended - begun;
        begun = ended;
    }
    node_here = before;
    if (thread == 0) --loops_here;
    return mine;
}

// Of the processor: other work on the machine is not counted.
double spent() {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return double(time.tv_sec) + 1e-9 * double(time.tv_nsec);
}

std::vector<double> timed(long blocks, const std::function<void(long, long)>& work) {
    std::vector<double> seconds(blocks);
    double begun = spent();
    for (long block = 0; block < blocks; ++block) {
        work(block, block + 1);
        const double ended = spent();
        seconds[block] = ended - begun;
        begun = ended;
    }
    return seconds;
}

}  // namespace

void Counters::add(const Counters& other) {
    for (int n = 0; n < 3; ++n) blocks[n] += other.blocks[n], seconds[n] += other.seconds[n];
    loops += other.loops;
    threads = std::max(threads, other.threads);
    nodes = std::max(nodes, other.nodes);
    bound = std::max(bound, other.bound);
}

void choose(Kind kind) { chosen_kind = kind; }
Kind chosen() { return chosen_kind; }

Counters counted() {
    const std::lock_guard lock(counting);
    return total;
}

void forget() {
    const std::lock_guard lock(counting);
    total = {};
}

void record(bool on) {
    const std::lock_guard lock(counting);
    if (on) kept_seconds.clear();
    recording = on;
}

std::vector<std::vector<double>> recorded() {
    const std::lock_guard lock(counting);
    return kept_seconds;
}

int here() { return node_here; }

Counters run(Ranges& ranges, const Layout& layout, const std::function<void(long, long)>& work) {
    const bool binds = !layout.processors.empty();
    const auto before = binds ? allowed_processors() : std::vector<int>{};
    std::vector<Counters> found(layout.threads());
    std::vector<std::thread> others;
    std::atomic<bool> stopped{false};
    int made = 1;
    try {
        for (; made < layout.threads(); ++made)
            others.emplace_back([&, t = made] { found[t] = serve(ranges, layout, t, work, stopped); });
    } catch (const std::system_error&) {  // the system grants no more: their part is for this one
    }
    found[0] = serve(ranges, layout, 0, work, stopped);
    for (int t = made; t < layout.threads(); ++t) found[t] = serve(ranges, layout, t, work, stopped);
    for (auto& thread : others) thread.join();
    if (binds) bound_to(before);
    if (stopped) throw Stopped();
    Counters all;
    long bound = 0;
    for (const auto& each : found) all.add(each), bound += each.bound;
    all.loops = 1;
    all.threads = layout.threads(), all.nodes = layout.nodes(), all.bound = int(bound);
    return all;
}

void run(long blocks, int threads, const std::function<void(long, long)>& work) {
    if (blocks < 1) return;
    if (recording) {
        auto seconds = timed(blocks, work);
        const std::lock_guard lock(counting);
        kept_seconds.push_back(std::move(seconds));
        return;
    }
    const Layout layout = this_machine(std::max(1, threads));
    Ranges ranges(blocks, chosen(), layout);
    const Counters found = run(ranges, layout, work);
    const std::lock_guard lock(counting);
    total.add(found);
}

}  // namespace nearfield::schedule
