/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file memory.h
 * Allocation for the recorders; on failure the program ends.
 */
#pragma once

#include "base/lists.h"
#include "preload/program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static _Noreturn inline void iso_no_memory(size_t bytes)
{
    fprintf(stderr, "%s: no memory for %zu bytes\n", iso_program_library,
            bytes);
    abort();
}

/** Give memory another size; NULL is memory of size 0. */
static inline void *iso_resized(void *memory, size_t bytes)
{
    bytes = bytes ? bytes : 1;
    void *found = memory ? realloc(memory, bytes) : malloc(bytes);
    if (found == NULL) {
        iso_no_memory(bytes);
    }
    return found;
}

/** Allocate memory that is 0. */
static inline void *iso_zeroed(size_t bytes)
{
    void *found = calloc(1, bytes ? bytes : 1);
    if (found == NULL) {
        iso_no_memory(bytes);
    }
    return found;
}

/** Copy a text. */
static inline char *iso_copied(const char *text)
{
    return strcpy(iso_resized(NULL, strlen(text) + 1), text);
}
