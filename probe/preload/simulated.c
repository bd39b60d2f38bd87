/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file simulated.c
 * SimGrid loads a program so that it finds the calls of MPI in SimGrid's own
 * library first. Without that, it finds those of a preloaded library.
 */
#define _GNU_SOURCE /* RTLD_NEXT */
#include <mpi.h>

#ifdef SMPI_H

#include "preload/wrapper.h"

#include <dlfcn.h>

ISO_WRAPPER void *dlopen(const char *path, int mode)
{
    void *found = dlsym(RTLD_NEXT, "dlopen");
    return (*(void *(**)(const char *, int)) & found)(path,
                                                      mode & ~RTLD_DEEPBIND);
}

#else
typedef int iso_not_simulated_t;
#endif
