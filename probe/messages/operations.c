/* SPDX-License-Identifier: BSD-3-Clause */
#include "messages/operations.h"

#include "base/words.h"

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

#define TRAITS(...) __VA_ARGS__
#define ENTRY(X, operation, Name, alike, traits, ...)                          \
    {.name = #operation, .like = #alike, TRAITS traits, .call = operation},

const iso_operation_t iso_operations[] = {ISO_OPERATIONS(ENTRY, ){0}};

const iso_operation_t *iso_operation_find(const char *name, size_t length)
{
    for (const iso_operation_t *o = iso_operations; o->name; o++) {
        if (iso_word_is(name, length, o->name)) {
            return o;
        }
    }
    return NULL;
}

double iso_operation_room(const iso_operation_t *o, bool received, int ranks,
                          double largest)
{
    bool all = received ? o->receives_all : o->sends_all;
    if (all && !o->neighbors) {
        return ranks; /* whose blocks have the mean size together */
    }
    return (all ? ISO_NEIGHBORS : 1) * (o->varying ? largest : 1);
}
