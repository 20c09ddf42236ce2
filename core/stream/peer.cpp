#include "stream/peer.hpp"

#include <linux/futex.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string>

namespace nearfield::stream {
namespace {

struct Status {
    enum { unknown, none, ended, runs } state = unknown;
    std::uint64_t began = 0;
};

// Of /proc/<number>/stat: the state is the field after the name in parentheses, the start time the 19th after that.
Status status_of(std::int32_t number) {
    const std::string path = "/proc/" + std::to_string(number) + "/stat";
    std::FILE* const file = std::fopen(path.c_str(), "re");
    if (!file) return {errno == ENOENT || errno == ESRCH ? Status::none : Status::unknown};
    char text[1024];
    text[std::fread(text, 1, sizeof text - 1, file)] = 0;
    std::fclose(file);
    const char* at = std::strrchr(text, ')');
    if (!at || !at[1]) return {};
    Status status{at[2] == 'Z' || at[2] == 'X' ? Status::ended : Status::runs};
    for (int field = 0; at && field < 20; ++field) at = std::strchr(at + 1, ' ');
    if (at) status.began = std::strtoull(at + 1, nullptr, 10);
    return status;
}

std::uint64_t space_here() {
    struct stat found{};
    return stat("/proc/self/ns/pid", &found) == 0 ? found.st_ino : 0;
}

// Whether a thread of it still runs, though the first one has ended. Old kernels do not say: no.
bool surely_runs(std::int32_t number) {
#ifdef SYS_pidfd_open
    const int file = int(syscall(SYS_pidfd_open, number, 0));
    if (file < 0) return false;
    pollfd ended{file, POLLIN, 0};
    const bool runs = poll(&ended, 1, 0) == 0;
    close(file);
    return runs;
#else
    return number < 0;
#endif
}

}  // namespace

Process this_process() { return {getpid(), status_of(getpid()).began, space_here()}; }

Process load(const Identity& identity) {
    return {identity.number.load(std::memory_order_acquire), identity.began.load(std::memory_order_acquire),
            identity.space.load(std::memory_order_acquire)};
}

void store(Identity& identity, const Process& process) {
    identity.space.store(process.space, std::memory_order_release);
    identity.began.store(process.began, std::memory_order_release);
    identity.number.store(process.number, std::memory_order_release);
}

bool in_reach(const Process& process) { return process.space == space_here(); }

bool alive(const Process& process) {
    if (process.number <= 0) return false;
    if (!in_reach(process)) return true;
    const Status status = status_of(process.number);
    if (status.state == Status::unknown) return true;
    if (status.state == Status::none || status.began != process.began) return false;
    return status.state == Status::runs || surely_runs(process.number);
}

void sleep_while(Word& word, std::uint32_t value, Nanoseconds at_most) {
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(at_most);
    const timespec left{seconds.count(), long((at_most - seconds).count())};
    syscall(SYS_futex, &word, FUTEX_WAIT, value, &left, nullptr, 0);
}

void wake(Word& word) { syscall(SYS_futex, &word, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0); }

void ring(Word& bell, Word& sleeps) {
    bell.fetch_add(1, std::memory_order_seq_cst);
    if (sleeps.load(std::memory_order_seq_cst)) wake(bell);
}

}  // namespace nearfield::stream
