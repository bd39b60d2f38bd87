/* SPDX-License-Identifier: BSD-3-Clause */
#include "grid/collectives.h"

#include <string.h>

const iso_grid_operation_t iso_grid_operations[] = {
    {"bcast", true, {{.operation = "bcast"}, {"bcast", .rows = true}}},
    {"scatter",
     true,
     {{"scatter", .times_length = true}, {"scatter", .rows = true}}},
    {"gather",
     true,
     {{"gather", .rows = true}, {"gather", .times_length = true}}},
    {"reduce", true, {{"reduce", .rows = true}, {.operation = "reduce"}}},
    {"allreduce",
     false,
     {{"allreduce", .rows = true}, {.operation = "allreduce"}}},
    {"allgather",
     false,
     {{"allgather", .rows = true}, {"allgather", .times_length = true}}},
    {"alltoall",
     false,
     {{"alltoall", .rows = true, .times_rows = true},
      {"alltoall", .times_length = true}}},
    {"reduce_scatter_block",
     false,
     {{"reduce_scatter_block", .rows = true, .times_rows = true},
      {.operation = "reduce_scatter_block"}}},
    {.name = NULL},
};

const iso_grid_operation_t *iso_grid_operation_find(const char *name,
                                                    size_t length)
{
    for (const iso_grid_operation_t *o = iso_grid_operations; o->name; o++) {
        if (strlen(o->name) == length && strncmp(o->name, name, length) == 0) {
            return o;
        }
    }
    return NULL;
}
