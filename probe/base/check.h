/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file check.h
 * Fatal errors: print the message with MPI's text, file and line, then end all
 * ranks.
 */
#pragma once

#include "base/lists.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/** Exit codes of the probe, the same as those of the command line. */
enum {
    ISO_EXIT_OK = 0,     /**< measured to the end */
    ISO_EXIT_USAGE = 2,  /**< wrong use: one line on standard error */
    ISO_EXIT_FAILED = 3, /**< the measurement failed */
};

/** End all ranks with @a code, after a delay for earlier messages. */
_Noreturn void iso_end_all(int code);

/** Print one line "isochrone-probe: ..." on standard error. Control characters
 * become "?", as the text may be untrusted. */
__attribute__((format(printf, 1, 2))) void iso_complain(const char *format,
                                                        ...);

/** Length of the UTF-8 character that @a text begins with; 0 if it is none. */
int iso_character_length(const char *text);

/** Make unchecked MPI calls fail in the same way, on MPI_COMM_WORLD and its
 * duplicates. */
void iso_check_begin(void);

/** End all ranks after one line "isochrone-probe: file:line: what". */
#define ISO_FAIL(...)                                                          \
    do {                                                                       \
        fprintf(stderr, "isochrone-probe: %s:%d: ", __FILE__, __LINE__);       \
        fprintf(stderr, __VA_ARGS__);                                          \
        fputc('\n', stderr);                                                   \
        iso_end_all(ISO_EXIT_FAILED);                                          \
    } while (0)

/** Call MPI, and end all ranks with MPI's error string if it fails. */
#define MPI_CHECK(call)                                                        \
    do {                                                                       \
        int iso_error_ = (call);                                               \
        if (iso_error_ != MPI_SUCCESS) {                                       \
            char iso_text_[MPI_MAX_ERROR_STRING];                              \
            int iso_length_ = 0;                                               \
            MPI_Error_string(iso_error_, iso_text_, &iso_length_);             \
            ISO_FAIL("%s: %s", #call, iso_text_);                              \
        }                                                                      \
    } while (0)

/** Allocate @a count zeroed objects of @a size bytes, or end all ranks. */
static inline void *iso_calloc(size_t count, size_t size)
{
    void *memory = calloc(count ? count : 1, size);
    if (memory == NULL) {
        ISO_FAIL("no memory for %zu objects of %zu bytes", count, size);
    }
    return memory;
}

/** Allocate @a count zeroed objects of a type; a pointer to them. */
#define ISO_NEW(Type, count) ((Type *)iso_calloc(count, sizeof(Type)))

/** Give memory another size, or end all ranks; NULL is memory of size 0. */
static inline void *iso_resized(void *memory, size_t bytes)
{
    void *found = realloc(memory, bytes);
    if (found == NULL) {
        ISO_FAIL("no memory for %zu bytes", bytes);
    }
    return found;
}

/** Allocate @a bytes bytes that are 1: pages that nothing was written to all
 *  share one zero page, and a timed loop would make them. */
static inline char *iso_touched(size_t bytes)
{
    return memset(iso_calloc(bytes, 1), 1, bytes);
}
