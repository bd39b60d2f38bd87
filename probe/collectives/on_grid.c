/* SPDX-License-Identifier: BSD-3-Clause */
#include "collectives/on_grid.h"

#include "grid/collectives.h"

#include <string.h>

#define TWO_BLOCKS c->send, c->count, c->type, c->receive, c->count, c->type
#define REDUCED    c->send, c->receive, c->count, c->type, MPI_SUM

/** X(name, arguments of the call, up to the communicator) */
#define OPERATIONS(X)                                                          \
    X(bcast, c->receive, c->count, c->type, c->root)                           \
    X(reduce, REDUCED, c->root)                                                \
    X(allreduce, REDUCED)                                                      \
    X(gather, TWO_BLOCKS, c->root)                                             \
    X(scatter, TWO_BLOCKS, c->root)                                            \
    X(allgather, TWO_BLOCKS)                                                   \
    X(alltoall, TWO_BLOCKS)                                                    \
    X(reduce_scatter_block, REDUCED)

#define DEFINE(name, ...)                                                      \
    static void name(const iso_call_t *c)                                      \
    {                                                                          \
        iso_grid_##name(__VA_ARGS__, c->comm, c->grid);                        \
    }
OPERATIONS(DEFINE)

static const struct {
    const char *name;
    void (*call)(const iso_call_t *call);
} realisations[] = {
#define ENTRY(name, ...) {#name, name},
    OPERATIONS(ENTRY){NULL, NULL},
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
