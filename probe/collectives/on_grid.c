/* SPDX-License-Identifier: BSD-3-Clause */
#include "collectives/on_grid.h"

#include "grid/collectives.h"

#include <string.h>

#define DEFINE(name, Name, ...)                                                \
    static void name(const iso_call_t *c)                                      \
    {                                                                          \
        iso_grid_##name(__VA_ARGS__, c->comm, c->grid);                        \
    }
ISO_GRID_CALLS(DEFINE)

static const struct {
    const char *name;
    void (*call)(const iso_call_t *call);
} realisations[] = {
#define ENTRY(name, ...) {#name, name},
    ISO_GRID_CALLS(ENTRY){NULL, NULL},
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
