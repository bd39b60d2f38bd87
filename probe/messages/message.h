/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file message.h
 * Memory layout of a message, and its MPI datatype.
 *
 * contiguous  one run of bytes. More than an int counts are described by a
 *             derived type of 1-GiB blocks, which every MPI understands.
 * vector      one double every `stride` doubles, as a derived type: mpptest's
 *             -vector -vstride.
 */
#pragma once

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct {
    long long bytes;   /**< of data */
    long stride;       /**< doubles from one to the next; 0: contiguous */
    size_t extent;     /**< bytes of memory it spans */
    int count;         /**< what MPI is given: so many ... */
    MPI_Datatype type; /**< ... of this */
    bool owned;        /**< the type is ours to free */
} iso_message_t;

/**
 * Describe a message.
 *
 * @param stride  0: contiguous; else doubles from one double to the next, and
 *                @a bytes is a multiple of 8
 */
void iso_message_create(iso_message_t *message, long long bytes, long stride);
void iso_message_free(iso_message_t *message);

/** Bytes of memory that such a message spans. */
size_t iso_message_extent(long long bytes, long stride);
