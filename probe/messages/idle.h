/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file idle.h
 * Messages between ranks that are not measured; who waits for one sleeps.
 *
 * A rank that spins in a receive or a barrier takes the core, the memory bus
 * or the network port away from the pair that is being measured. A sleeping
 * rank looks for a message, sleeps a little, and looks again. Sleeps double
 * from 20 us to 1 ms, so the delay stays in proportion to the wait.
 */
#pragma once

#include "experiment.h"

/**
 * Receive as MPI_Recv does from ctx->control, and sleep until the message is
 * there.
 *
 * In a simulator this is a plain MPI_Recv: probing would take simulated time.
 */
MPI_Status iso_idle_recv(const iso_context_t *ctx, void *buffer, int count,
                         MPI_Datatype type, int source, int tag);

/** Send an empty message on ctx->control. */
void iso_signal(const iso_context_t *ctx, int rank, int tag);

/** Sleep until such a message is there. @param rank  may be MPI_ANY_SOURCE */
void iso_await(const iso_context_t *ctx, int rank, int tag);
