/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE /* RTLD_NEXT */
#include "preload/next.h"

#include "preload/program.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

void *iso_next(const char *name)
{
    void *next = dlsym(RTLD_NEXT, name);
    if (next == NULL) {
        fprintf(stderr, "%s: there is no %s\n", iso_program_library, name);
        abort();
    }
    return next;
}
