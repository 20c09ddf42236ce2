// A loop shared by threads: each takes the next chunk until none is left.
#pragma once

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

namespace nearfield {

// `work(begin, end)` on chunks of 0 to count; nothing may be thrown in it.
template <class Work>
void in_chunks(long count, long chunk, int threads, const Work& work) {
    std::atomic<long> next{0};
    const auto serve = [&] {
        for (long begin; (begin = next.fetch_add(chunk)) < count;) work(begin, std::min(begin + chunk, count));
    };
    std::vector<std::thread> others;
    const long useful = std::min<long>(threads, (count + chunk - 1) / chunk);
    for (long n = 1; n < useful; ++n) others.emplace_back(serve);
    serve();
    for (auto& thread : others) thread.join();
}

}  // namespace nearfield
