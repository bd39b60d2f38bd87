/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file partitioned.h
 * Partitioned messages (MPI 4.0, chapter 4): the sender says of each part of a
 * message when it is ready, and the library may send it at once.
 *
 *     together    rank i: Start both; Pready of all; Waitall
 *                 rank j: Start; Wait; Start; Pready of all; Wait
 *     early       the same, but at both ranks all partitions except the last
 *                 one were ready earlier, by the time that a round trip takes;
 *                 timed from the last Pready on
 *
 * A library that sends partitions when they are ready needs less time for
 * early ones: that is their gain (Temucin et al. 2022, Micro-Benchmarking MPI
 * Partitioned Point-to-Point Communication).
 *
 * The functions are looked up at run time: not all libraries have them, not
 * even of those that a probe can be started with.
 */
#pragma once

#include "messages/transfer.h"

/** Whether the library has partitioned messages. */
bool iso_partitioned_exists(void);

void iso_partitioned_lead(iso_transfer_t *t, long samples, long batch,
                          double *seconds);
void iso_partitioned_answer(iso_transfer_t *t, long operations);
