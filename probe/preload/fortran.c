/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE /* RTLD_NEXT */
#include "preload/fortran.h"

#include "preload/program.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

void *iso_fortran_function(const char *name)
{
    void *found = dlsym(RTLD_NEXT, name);
    if (found == NULL) {
        fprintf(stderr, "%s: this MPI has no %s\n", iso_program_library, name);
        abort();
    }
    return found;
}
