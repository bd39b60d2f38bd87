/* SPDX-License-Identifier: BSD-3-Clause */
#include "messages/operations.h"

#include <string.h>

static void barrier(const iso_call_t *c)
{
    MPI_Barrier(c->comm);
}

static void bcast(const iso_call_t *c)
{
    MPI_Bcast(c->receive, c->count, c->type, c->root, c->comm);
}

static void reduce(const iso_call_t *c)
{
    MPI_Reduce(c->send, c->receive, c->count, c->type, MPI_SUM, c->root,
               c->comm);
}

static void allreduce(const iso_call_t *c)
{
    MPI_Allreduce(c->send, c->receive, c->count, c->type, MPI_SUM, c->comm);
}

static void gather(const iso_call_t *c)
{
    MPI_Gather(c->send, c->count, c->type, c->receive, c->count, c->type,
               c->root, c->comm);
}

static void scatter(const iso_call_t *c)
{
    MPI_Scatter(c->send, c->count, c->type, c->receive, c->count, c->type,
                c->root, c->comm);
}

static void allgather(const iso_call_t *c)
{
    MPI_Allgather(c->send, c->count, c->type, c->receive, c->count, c->type,
                  c->comm);
}

static void alltoall(const iso_call_t *c)
{
    MPI_Alltoall(c->send, c->count, c->type, c->receive, c->count, c->type,
                 c->comm);
}

static void reduce_scatter_block(const iso_call_t *c)
{
    MPI_Reduce_scatter_block(c->send, c->receive, c->count, c->type, MPI_SUM,
                             c->comm);
}

static void scan(const iso_call_t *c)
{
    MPI_Scan(c->send, c->receive, c->count, c->type, MPI_SUM, c->comm);
}

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
