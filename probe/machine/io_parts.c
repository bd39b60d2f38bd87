/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE /* RTLD_DEFAULT */
#include "machine/io_parts.h"

#include <dlfcn.h>
#include <stddef.h>

iso_io_parts_t iso_io_parts_of_last(MPI_Comm comm)
{
    iso_io_parts_t parts = {-1, -1, -1, -1, -1};
    iso_io_parts_function_t *ask;
    *(void **)&ask = dlsym(RTLD_DEFAULT, ISO_IO_PARTS_FUNCTION);
    if (ask != NULL) {
        ask(comm, &parts);
    }
    return parts;
}
