/* Preloaded: the n-th call that changes a file whose name holds the mark fails, or kills the process. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

static const char *mark;
static long left = -1, seen;
static int error_number; /* 0: kill */

/* From now on: the n-th call (from 0) fails with `error`, or with 0 kills; n < 0 never. Returns the calls seen so far. */
long failing_disk(const char *name, long n, int error) {
    long before = seen;
    mark = name, left = n, error_number = error, seen = 0;
    return before;
}

/* Whether this call is to fail. A full disk still takes what overwrites; a broken one takes nothing any more. */
static int fails(int descriptor, off_t end) {
    char link[64], path[4096];
    struct stat now;
    if (!mark) return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0) return 0;
    path[length] = 0;
    if (!strstr(path, mark)) return 0;
    if (left < 0 || seen++ < left) return 0;
    if (!error_number) raise(SIGKILL);
    if (error_number == ENOSPC && fstat(descriptor, &now) == 0 && end <= now.st_size) return 0;
    errno = error_number;
    return 1;
}

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

ssize_t pwrite(int descriptor, const void *content, size_t count, off_t offset) {
    return fails(descriptor, offset + count) ? -1 : NEXT(pwrite)(descriptor, content, count, offset);
}
ssize_t pwrite64(int descriptor, const void *content, size_t count, off_t offset) {
    return fails(descriptor, offset + count) ? -1 : NEXT(pwrite64)(descriptor, content, count, offset);
}
int ftruncate(int descriptor, off_t size) { return fails(descriptor, size) ? -1 : NEXT(ftruncate)(descriptor, size); }
int ftruncate64(int descriptor, off_t size) {
    return fails(descriptor, size) ? -1 : NEXT(ftruncate64)(descriptor, size);
}
int fsync(int descriptor) { return fails(descriptor, 1L << 62) ? -1 : NEXT(fsync)(descriptor); }
