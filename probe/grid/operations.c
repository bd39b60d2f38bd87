/* SPDX-License-Identifier: BSD-3-Clause */
#include "grid/collectives.h"

#include <string.h>

static const iso_grid_operation_t operations[] = {
    {"bcast", true, {[1] = {.rows = true}}},
    {"scatter", true, {{.times_length = true}, {.rows = true}}},
    {"gather", true, {{.rows = true}, {.times_length = true}}},
    {"reduce", true, {{.rows = true}}},
    {"allreduce", false, {{.rows = true}}},
    {"allgather", false, {{.rows = true}, {.times_length = true}}},
    {"alltoall",
     false,
     {{.rows = true, .times_rows = true}, {.times_length = true}}},
    {"reduce_scatter_block", false, {{.rows = true, .times_rows = true}}},
    {.name = NULL},
};

const iso_grid_operation_t *iso_grid_operation_find(const char *name)
{
    for (const iso_grid_operation_t *o = operations; o->name; o++) {
        if (strcmp(o->name, name) == 0) {
            return o;
        }
    }
    return NULL;
}
