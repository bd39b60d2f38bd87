/* SPDX-License-Identifier: BSD-3-Clause */
#include "messages/operations.h"

#include "base/words.h"
#include "messages/patterns.h"

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

const iso_operation_t iso_operations[] = {
    ISO_OPERATIONS(ENTRY, ){.name = "exchange",
                            .like = "exchange",
                            .sends_all = true,
                            .receives_all = true,
                            .neighbors = true,
                            .by_messages = true,
                            .call = iso_exchange},
    {0}};

const iso_operation_t *iso_operation_find(const char *name, size_t length)
{
    for (const iso_operation_t *o = iso_operations; o->name; o++) {
        if (iso_word_is(name, length, o->name)) {
            return o;
        }
    }
    return NULL;
}
