/* SPDX-License-Identifier: BSD-3-Clause */
#include "messages/operations.h"

#include <string.h>

static void barrier(const iso_call_t *c)
{
    MPI_Barrier(c->comm);
}

#define DEFINE(name, Name, ...)                                                \
    static void name(const iso_call_t *c)                                      \
    {                                                                          \
        MPI_##Name(__VA_ARGS__, c->comm);                                      \
    }
ISO_CALLS(DEFINE)
DEFINE(scan, Scan, ISO_CALL_REDUCED)

const iso_operation_t iso_operations[] = {
    {"barrier", .empty = true, .call = barrier},
    {"bcast", .in_one_buffer = true, .call = bcast},
    {"reduce", .reduces = true, .root_receives = true, .call = reduce},
    {"allreduce", .reduces = true, .call = allreduce},
    {"gather", .receives_all = true, .root_receives = true, .call = gather},
    {"scatter", .sends_all = true, .call = scatter},
    {"allgather", .receives_all = true, .call = allgather},
    {"alltoall", .sends_all = true, .receives_all = true, .call = alltoall},
    {"reduce_scatter_block", .reduces = true, .sends_all = true,
     .call = reduce_scatter_block},
    {"scan", .reduces = true, .of_those_before = true, .call = scan},
    {0},
};

const iso_operation_t *iso_operation_find(const char *name, size_t length)
{
    for (const iso_operation_t *o = iso_operations; o->name; o++) {
        if (strlen(o->name) == length && strncmp(o->name, name, length) == 0) {
            return o;
        }
    }
    return NULL;
}

double iso_operation_memory(const iso_operation_t *o, double bytes, int ranks)
{
    return bytes * ((o->sends_all ? ranks : 1) + (o->receives_all ? ranks : 1));
}
