// A writer and several readers of one ring, as threads on one mapping, so that a thread sanitizer sees every access:
// random stalls, all three policies, readers that come and go. Prints what passed; exits with 1 at the first wrong
// byte. `scripts/sanitize` builds and runs it.
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "stream/reader.hpp"
#include "stream/writer.hpp"

using namespace nearfield::stream;
using namespace std::chrono_literals;

namespace {

constexpr std::size_t words = 256;
constexpr std::size_t slots_of_ring = 16;  // six readers hold two at most, the writer two: some are always left
std::atomic<bool> wrong{false};

void complain(const char* what, std::uint64_t sequence) {
    std::printf("block %llu: %s\n", static_cast<unsigned long long>(sequence), what);
    wrong = true;
}

void stall(std::minstd_rand& random, int one_in) {
    if (random() % one_in == 0) std::this_thread::sleep_for(std::chrono::microseconds(random() % 2000));
}

void check(const Segment& segment, const Block& block) {
    const auto* data = reinterpret_cast<const std::uint64_t*>(segment.block(block.slot));
    for (std::size_t n = 0; n < words; ++n)
        if (data[n] != block.sequence * words + n) return complain("wrong bytes", block.sequence);
    if (block.step != std::int64_t(2 * block.sequence)) complain("wrong step", block.sequence);
}

// Receives until the end, or `life` blocks and comes again; holds up to two blocks at a time.
void read(const std::shared_ptr<Segment>& segment, Policy policy, unsigned seed, std::uint64_t life,
          std::atomic<std::uint64_t>& count) {
    std::minstd_rand random(seed);
    for (bool ended = false; !ended;) {
        std::unique_ptr<Reader> reader;
        {
            const Lock lock(*segment);
            reader = std::make_unique<Reader>(segment, policy);
        }
        std::vector<std::size_t> held;
        std::uint64_t next = endless;
        for (std::uint64_t n = 0; n < life && !ended;) {
            Block block;
            const Received found = reader->receive(50ms, block);
            ended = found == Received::end_of_stream;
            if (found == Received::writer_died) complain("its writer is alive", next);
            if (found != Received::block) continue;
            if (next != endless && block.sequence != next + block.missed) complain("out of order", block.sequence);
            if (policy == Policy::block && block.missed) complain("lost", block.sequence);
            next = block.sequence + 1;
            held.push_back(block.slot);
            stall(random, 50);
            check(*segment, block);
            while (held.size() > random() % 3) reader->release(held.back()), held.pop_back();
            ++n, ++count;
        }
    }
}

void write(Writer& writer, std::uint64_t blocks, unsigned seed) {
    std::minstd_rand random(seed);
    std::vector<std::size_t> slots;
    for (std::uint64_t done = 0, filled = 0; done < blocks;) {
        while (slots.size() < 1 + random() % 2 && filled < blocks) {
            const auto slot = writer.acquire(100ms);
            if (!slot) break;
            auto* data = reinterpret_cast<std::uint64_t*>(writer.segment()->block(*slot));
            for (std::size_t n = 0; n < words; ++n) data[n] = filled * words + n;
            slots.push_back(*slot), ++filled;
        }
        stall(random, 200);
        for (; !slots.empty(); slots.erase(slots.begin()), ++done)
            writer.commit(words * sizeof(std::uint64_t), std::int64_t(2 * done), "meta");
    }
    writer.close();
}

}  // namespace

int main(int argc, char** argv) {
    const std::uint64_t blocks = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 20000;
    const std::string folder =
        std::getenv("NEARFIELD_SHARED_MEMORY") ? std::getenv("NEARFIELD_SHARED_MEMORY") : "/dev/shm";
    const auto segment =
        Segment::make(folder + "/stress",
                      {slots_of_ring, words * sizeof(std::uint64_t), "{}", true, nearfield::MemoryPolicy::off, {}});
    Writer writer(segment);
    constexpr Policy policies[] = {Policy::block,       Policy::block, Policy::drop_oldest,
                                   Policy::drop_newest, Policy::block, Policy::drop_oldest};
    std::atomic<std::uint64_t> counts[std::size(policies)] = {};
    std::vector<std::thread> team;
    for (std::size_t n = 0; n < std::size(policies); ++n)
        team.emplace_back([&, n] { read(segment, policies[n], unsigned(n + 1), n < 4 ? endless : 100, counts[n]); });
    while (writer.readers() < std::size(policies)) std::this_thread::sleep_for(1ms);
    write(writer, blocks, 99);
    for (std::thread& each : team) each.join();
    for (std::size_t n = 0; n < std::size(policies); ++n)
        std::printf("reader %zu: %llu of %llu blocks\n", n, static_cast<unsigned long long>(counts[n].load()),
                    static_cast<unsigned long long>(blocks));
    if (counts[0] != blocks || counts[1] != blocks) complain("blocks were lost", blocks);
    return wrong;
}
