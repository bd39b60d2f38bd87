/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file sending.h
 * Bytes of any number from one rank to another, when a program ends.
 */
#ifndef ISO_SENDING_H
#define ISO_SENDING_H

#include <mpi.h>

/** Send bytes; returns when they can be changed. */
void iso_send_bytes(const void *data, long bytes, int to, MPI_Comm comm);

/** Receive what was sent; to be released. */
void *iso_receive_bytes(long *bytes, int from, MPI_Comm comm);

#endif
