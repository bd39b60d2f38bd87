/* SPDX-License-Identifier: BSD-3-Clause */
#include "collectives/on_grid.h"

#include "grid/collectives.h"

#include <string.h>

static void bcast(const iso_call_t *c)
{
    iso_grid_bcast(c->receive, c->count, c->type, c->root, c->comm, c->grid);
}

static void reduce(const iso_call_t *c)
{
    iso_grid_reduce(c->send, c->receive, c->count, c->type, MPI_SUM, c->root,
                    c->comm, c->grid);
}

static void allreduce(const iso_call_t *c)
{
    iso_grid_allreduce(c->send, c->receive, c->count, c->type, MPI_SUM, c->comm,
                       c->grid);
}

static void gather(const iso_call_t *c)
{
    iso_grid_gather(c->send, c->count, c->type, c->receive, c->count, c->type,
                    c->root, c->comm, c->grid);
}

static void scatter(const iso_call_t *c)
{
    iso_grid_scatter(c->send, c->count, c->type, c->receive, c->count, c->type,
                     c->root, c->comm, c->grid);
}

static void allgather(const iso_call_t *c)
{
    iso_grid_allgather(c->send, c->count, c->type, c->receive, c->count,
                       c->type, c->comm, c->grid);
}

static void alltoall(const iso_call_t *c)
{
    iso_grid_alltoall(c->send, c->count, c->type, c->receive, c->count, c->type,
                      c->comm, c->grid);
}

static void reduce_scatter_block(const iso_call_t *c)
{
    iso_grid_reduce_scatter_block(c->send, c->receive, c->count, c->type,
                                  MPI_SUM, c->comm, c->grid);
}

static const struct {
    const char *name;
    void (*call)(const iso_call_t *call);
} realisations[] = {
    {"bcast", bcast},
    {"reduce", reduce},
    {"allreduce", allreduce},
    {"gather", gather},
    {"scatter", scatter},
    {"allgather", allgather},
    {"alltoall", alltoall},
    {"reduce_scatter_block", reduce_scatter_block},
    {NULL, NULL},
};

void (*iso_on_grid(const iso_operation_t *operation))(const iso_call_t *call)
{
    for (int k = 0; realisations[k].name; k++) {
        if (strcmp(realisations[k].name, operation->name) == 0) {
            return realisations[k].call;
        }
    }
    return NULL;
}
