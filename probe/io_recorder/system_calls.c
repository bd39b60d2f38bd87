/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file system_calls.c
 * Times file accesses within a collective access. Only regular files count:
 * transports between ranks use the same system calls.
 */
#define _GNU_SOURCE /* pwrite64, preadv */
#include "io_recorder/intercept.h"
#include "io_recorder/timing.h"

#include <aio.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

static bool is_file(int descriptor)
{
    struct stat found;
    return fstat(descriptor, &found) == 0 &&
           (S_ISREG(found.st_mode) || S_ISBLK(found.st_mode));
}

#define TIMED(TYPE, Name, PARAMETERS, ARGUMENTS, IF)                           \
    ISO_WRAPPER TYPE Name PARAMETERS                                           \
    {                                                                          \
        ISO_NEXT(Name)                                                         \
        if (iso_timing == NULL || !(IF)) {                                     \
            return next ARGUMENTS;                                             \
        }                                                                      \
        double begin = PMPI_Wtime();                                           \
        TYPE done = next ARGUMENTS;                                            \
        iso_timing_file(begin, PMPI_Wtime());                                  \
        return done;                                                           \
    }

TIMED(ssize_t, read, (int file, void *to, size_t n), (file, to, n),
      is_file(file))
TIMED(ssize_t, write, (int file, const void *from, size_t n), (file, from, n),
      is_file(file))
TIMED(ssize_t, readv, (int file, const struct iovec *parts, int n),
      (file, parts, n), is_file(file))
TIMED(ssize_t, writev, (int file, const struct iovec *parts, int n),
      (file, parts, n), is_file(file))

/* These have an offset, and so are of files. */
#define OF_FILES(Name, PARAMETERS, ARGUMENTS)                                  \
    TIMED(ssize_t, Name, PARAMETERS, ARGUMENTS, true)

OF_FILES(pread, (int file, void *to, size_t n, off_t at), (file, to, n, at))
OF_FILES(pwrite, (int file, const void *from, size_t n, off_t at),
         (file, from, n, at))
OF_FILES(preadv, (int file, const struct iovec *parts, int n, off_t at),
         (file, parts, n, at))
OF_FILES(pwritev, (int file, const struct iovec *parts, int n, off_t at),
         (file, parts, n, at))

#ifdef __GLIBC__ /* elsewhere these are the same functions */
OF_FILES(pread64, (int file, void *to, size_t n, off64_t at), (file, to, n, at))
OF_FILES(pwrite64, (int file, const void *from, size_t n, off64_t at),
         (file, from, n, at))
OF_FILES(preadv64, (int file, const struct iovec *parts, int n, off64_t at),
         (file, parts, n, at))
OF_FILES(pwritev64, (int file, const struct iovec *parts, int n, off64_t at),
         (file, parts, n, at))
#endif

/* Of nonblocking accesses, which threads of the C library make. */
TIMED(int, aio_suspend,
      (const struct aiocb *const list[], int n, const struct timespec *most),
      (list, n, most), true)
#ifdef __GLIBC__
TIMED(int, aio_suspend64,
      (const struct aiocb64 *const list[], int n, const struct timespec *most),
      (list, n, most), true)
#endif
