/* SPDX-License-Identifier: BSD-3-Clause */
/** The file system becomes read-only after ISO_FLUSHES; loaded before libc. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

int fflush(FILE *stream)
{
    static long flushes;
    static int (*real)(FILE *);
    const char *most = getenv("ISO_FLUSHES");
    struct stat found;
    if (real == NULL) {
        real = (int (*)(FILE *))dlsym(RTLD_NEXT, "fflush");
    }
    if (most && stream && fstat(fileno(stream), &found) == 0 &&
        S_ISREG(found.st_mode) && ++flushes > atol(most)) {
        errno = EROFS;
        return EOF;
    }
    return real(stream);
}
