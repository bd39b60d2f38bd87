/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file sending.h
 * Bytes of any number from one rank to another, when a program ends.
 */
#pragma once

#include <mpi.h>
#include <stdio.h>

/** A memory stream for data to be sent; without memory the program ends. Once
 * closed, the data are in @a text, to be released. */
FILE *iso_memory_open(char **text, size_t *length);
void iso_memory_close(FILE *stream);

/** Send bytes; returns when they can be changed. */
void iso_send_bytes(const void *data, long bytes, int to, MPI_Comm comm);

/** Receive what was sent; to be released. */
void *iso_receive_bytes(long *bytes, int from, MPI_Comm comm);
