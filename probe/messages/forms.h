/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file forms.h
 * The forms of a collective operation:
 *
 *     blocking      MPI_Bcast
 *     nonblocking   MPI_Ibcast, MPI_Wait
 *     persistent    MPI_Start, MPI_Wait; before that MPI_Bcast_init
 *     put, ...      one-sided, see patterns.h
 *
 * Those of an operation follow from its line in ISO_CALLS. Persistent ones are
 * of MPI 4; Open MPI 4 has them as an extension (MPIX_Bcast_init), and Open MPI
 * 5 under their names.
 */
#pragma once

#include "messages/operations.h"

typedef enum {
    ISO_BLOCKING,
    ISO_NONBLOCKING,
    ISO_PERSISTENT,
    ISO_PUT, /* this and the next ones are one-sided */
    ISO_PUT_LOCAL,
    ISO_GET,
    ISO_GET_LOCAL,
    ISO_FORMS
} iso_form_t;

/** As the user types them, by iso_form_t. */
extern const char *const iso_form_names[ISO_FORMS];

enum { ISO_FORM_WORD = 48 };

/** Write the name of an operation in a form, as benchmarks and the run file
 *  have it: bcast, ibcast, bcast_persistent, scatter_put. */
void iso_form_word(const iso_operation_t *operation, iso_form_t form,
                   char word[ISO_FORM_WORD]);

/**
 * What begins an operation in a form other than blocking, for iso_call_t.begin;
 * a one-sided form is complete then.
 *
 * @return NULL if there is no such form of it, or not in this MPI library
 */
void (*iso_form_begin(const iso_operation_t *operation,
                      iso_form_t form))(const iso_call_t *call);

/** Whether the operation of a call is complete; else let it progress. */
bool iso_form_test(const iso_call_t *call);

/** Wait until it is. */
void iso_form_wait(const iso_call_t *call);

/** Make the request of a persistent operation: that of the root of the call.
 *  Collective. */
void iso_form_init(const iso_operation_t *operation, const iso_call_t *call);

/** Begin the operation of a call, and wait until it is complete. */
void iso_form_complete(const iso_call_t *call);
