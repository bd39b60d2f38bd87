/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file nth_fails.c
 * Preloaded by tests: the n-th call of a family fails, and those after it.
 *
 * ISO_FAULT_FAMILY   write (to files, and to standard output), rename,
 *                    fork (processes and threads), memory
 * ISO_FAULT_N        which call is the first that fails, from 1 on
 * ISO_FAULT_ONCE=1   the others do not fail
 * ISO_FAULT_PROGRAM  count only in programs whose names begin so
 * ISO_FAULT_COUNTER  a file of 8 bytes in which all processes count together
 * ISO_FAULT_LEAST    bytes from which on memory is counted
 * ISO_FAULT_OWN=1    count only calls of the program itself, not of libraries
 *
 * iso_fault_arm() begins anew within a process.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#define CALLER     __builtin_return_address(0)
#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *memory, size_t size);

static char family; /* its first letter; 0: nothing fails */
static long first;
static bool once, own;
static size_t least = 4096;
static long alone, *calls = &alone;
static ElfW(Addr) program_begin, program_end;

void iso_fault_arm(const char *name, long n, bool only)
{
    *calls = 0;
    first = n;
    once = only;
    family = name[0];
}

/** How many calls of the family there were. */
long iso_fault_calls(void)
{
    return *calls;
}

static int find_program(struct dl_phdr_info *info, size_t size, void *data)
{
    (void)size;
    (void)data;
    for (int k = 0; k < info->dlpi_phnum; k++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[k];
        if (part->p_type == PT_LOAD && part->p_flags & PF_X) {
            program_begin = info->dlpi_addr + part->p_vaddr;
            program_end = program_begin + part->p_memsz;
        }
    }
    return 1; /* the program comes first */
}

__attribute__((constructor)) static void begin(void)
{
    const char *name = getenv("ISO_FAULT_FAMILY"), *n = getenv("ISO_FAULT_N");
    const char *program = getenv("ISO_FAULT_PROGRAM");
    const char *counter = getenv("ISO_FAULT_COUNTER");
    const char *bytes = getenv("ISO_FAULT_LEAST");
    int file = counter ? open(counter, O_RDWR | O_CLOEXEC) : -1;
    if (bytes) {
        least = (size_t)atol(bytes);
    }
    own = getenv("ISO_FAULT_OWN") != NULL;
    dl_iterate_phdr(find_program, NULL);
    if (file >= 0) {
        void *shared = mmap(NULL, sizeof(*calls), PROT_READ | PROT_WRITE,
                            MAP_SHARED, file, 0);
        calls = shared == MAP_FAILED ? &alone : shared;
        close(file);
    }
    if (name && n &&
        (!program || strncmp(program_invocation_short_name, program,
                             strlen(program)) == 0)) {
        first = atol(n);
        once = getenv("ISO_FAULT_ONCE") != NULL;
        family = name[0];
    }
}

/** Whether this call fails; @a caller is where it comes from. */
static bool fails(const char *name, void *caller)
{
    ElfW(Addr) from = (ElfW(Addr))caller;
    if (family != name[0] ||
        (own && (from < program_begin || from >= program_end))) {
        return false;
    }
    long call = __atomic_add_fetch(calls, 1, __ATOMIC_RELAXED);
    return once ? call == first : call >= first;
}

/** Whether what is written there is counted: not what is said of an error. */
static bool is_file(int fd)
{
    struct stat found;
    return fd != STDERR_FILENO && fstat(fd, &found) == 0 &&
           S_ISREG(found.st_mode);
}

ssize_t write(int fd, const void *data, size_t bytes)
{
    if (is_file(fd) && fails("write", CALLER)) {
        NEXT(write)(fd, data, bytes / 2); /* as a disk that becomes full */
        errno = ENOSPC;
        return -1;
    }
    return NEXT(write)(fd, data, bytes);
}

ssize_t writev(int fd, const struct iovec *parts, int count)
{
    if (is_file(fd) && fails("write", CALLER)) {
        errno = ENOSPC;
        return -1;
    }
    return NEXT(writev)(fd, parts, count);
}

ssize_t pwrite(int fd, const void *data, size_t bytes, off_t offset)
{
    if (is_file(fd) && fails("write", CALLER)) {
        errno = ENOSPC;
        return -1;
    }
    return NEXT(pwrite)(fd, data, bytes, offset);
}

ssize_t pwrite64(int fd, const void *data, size_t bytes, off64_t offset)
{
    if (is_file(fd) && fails("write", CALLER)) {
        errno = ENOSPC;
        return -1;
    }
    return NEXT(pwrite64)(fd, data, bytes, offset);
}

/** Let a stream write to a full disk for a moment. */
static int on_a_full_disk(FILE *stream, int (*call)(FILE *))
{
    int fd = fileno(stream), kept = dup(fd);
    int full = open("/dev/full", O_WRONLY | O_CLOEXEC);
    dup2(full, fd);
    close(full);
    int result = call(stream);
    if (call != NEXT(fclose)) {
        dup2(kept, fd);
    }
    close(kept);
    return result;
}

int fflush(FILE *stream)
{
    if (stream && __fpending(stream) > 0 && is_file(fileno(stream)) &&
        fails("write", CALLER)) {
        return on_a_full_disk(stream, NEXT(fflush));
    }
    return NEXT(fflush)(stream);
}

int fclose(FILE *stream)
{
    if (__fpending(stream) > 0 && is_file(fileno(stream)) &&
        fails("write", CALLER)) {
        return on_a_full_disk(stream, NEXT(fclose));
    }
    return NEXT(fclose)(stream);
}

int rename(const char *from, const char *to)
{
    if (fails("rename", CALLER)) {
        errno = EIO;
        return -1;
    }
    return NEXT(rename)(from, to);
}

int renameat(int a, const char *from, int b, const char *to)
{
    if (fails("rename", CALLER)) {
        errno = EIO;
        return -1;
    }
    return NEXT(renameat)(a, from, b, to);
}

pid_t fork(void)
{
    if (fails("fork", CALLER)) {
        errno = EAGAIN;
        return -1;
    }
    return NEXT(fork)();
}

pid_t vfork(void) /* which cannot be passed on: its caller returns twice */
{
    if (fails("fork", CALLER)) {
        errno = EAGAIN;
        return -1;
    }
    return NEXT(fork)();
}

int posix_spawn(pid_t *child, const char *path,
                const posix_spawn_file_actions_t *actions,
                const posix_spawnattr_t *attributes, char *const argv[],
                char *const environ[])
{
    return fails("fork", CALLER) ? EAGAIN
                                 : NEXT(posix_spawn)(child, path, actions,
                                                     attributes, argv, environ);
}

int posix_spawnp(pid_t *child, const char *path,
                 const posix_spawn_file_actions_t *actions,
                 const posix_spawnattr_t *attributes, char *const argv[],
                 char *const environ[])
{
    return fails("fork", CALLER)
               ? EAGAIN
               : NEXT(posix_spawnp)(child, path, actions, attributes, argv,
                                    environ);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                   void *(*begin_with)(void *), void *argument)
{
    return fails("fork", CALLER)
               ? EAGAIN
               : NEXT(pthread_create)(thread, attributes, begin_with, argument);
}

static bool no_memory(size_t bytes, void *caller)
{
    if (bytes < least || !fails("memory", caller)) {
        return false;
    }
    errno = ENOMEM;
    return true;
}

void *malloc(size_t bytes)
{
    return no_memory(bytes, CALLER) ? NULL : __libc_malloc(bytes);
}

void *calloc(size_t count, size_t size)
{
    return no_memory(count * size, CALLER) ? NULL : __libc_calloc(count, size);
}

void *realloc(void *memory, size_t bytes)
{
    return no_memory(bytes, CALLER) ? NULL : __libc_realloc(memory, bytes);
}
