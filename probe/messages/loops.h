/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file loops.h
 * The timed loop of the rank that leads, and that of the one that answers.
 */
#pragma once

#include "messages/transfer.h"

/** What a loop repeats: operation @a k of it. */
#define ISO_OPERATION                                                          \
    iso_transfer_t *t, const iso_message_t *m, MPI_Comm comm, MPI_Request *r,  \
        long k

/** The loops of the two ranks, which repeat these operations between opening
 *  and closing. */
#define ISO_LOOPS(name, leading, answering, open, close)                       \
    static void name##_lead(iso_transfer_t *t, long samples, long batch,       \
                            double *seconds)                                   \
    {                                                                          \
        const iso_message_t *m = &t->message;                                  \
        MPI_Comm comm = t->ctx->comm;                                          \
        MPI_Request *r = t->requests;                                          \
        open;                                                                  \
        for (long k = 0; k < samples; k++) {                                   \
            double start = iso_now();                                          \
            for (long b = 0; b < batch; b++) {                                 \
                leading(t, m, comm, r, b);                                     \
            }                                                                  \
            seconds[k] = iso_now() - start;                                    \
            if (t->starts) {                                                   \
                t->starts[k] = start;                                          \
            }                                                                  \
        }                                                                      \
        close;                                                                 \
    }                                                                          \
    static void name##_answer(iso_transfer_t *t, long operations)              \
    {                                                                          \
        const iso_message_t *m = &t->message;                                  \
        MPI_Comm comm = t->ctx->comm;                                          \
        MPI_Request *r = t->requests;                                          \
        open;                                                                  \
        for (long k = 0; k < operations; k++) {                                \
            answering(t, m, comm, r, k);                                       \
        }                                                                      \
        close;                                                                 \
    }
