/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file blocks.h
 * A buffer of the caller as blocks of equal size, one for each rank, and their
 * packed form: the bytes of a block one after the other, without gaps, in the
 * order of its datatype. Operations that only move data move packed blocks.
 */
#pragma once

#include <mpi.h>
#include <stdbool.h>

typedef struct iso_blocks {
    char *buffer;
    int count; /**< of a block */
    MPI_Datatype type;
    MPI_Aint stride; /**< bytes from block to block */
    long long bytes; /**< of data in a block; -1 if no call may have such
                          arguments */
    bool dense;      /**< the buffer is its packed form */
} iso_blocks_t;

/** Describe a buffer of the caller. It is not read, and written only by
 *  iso_blocks_unpack. */
iso_blocks_t iso_blocks_of(const void *buffer, int count, MPI_Datatype type);

/** Where a block begins. */
static inline char *iso_blocks_at(const iso_blocks_t *blocks, int block)
{
    return blocks->buffer + blocks->stride * block;
}

/** Write one block packed; an MPI error code. */
int iso_blocks_pack(const iso_blocks_t *blocks, int block, char *packed,
                    MPI_Comm comm);

/** Fill one block from its packed form; an MPI error code. */
int iso_blocks_unpack(const iso_blocks_t *blocks, int block, const char *packed,
                      MPI_Comm comm);

/** Memory for elements of a datatype, as MPI calls take it. */
typedef struct {
    void *memory; /**< NULL if there is none */
    void *buffer; /**< where the first element begins, which may be outside of
                       the memory */
} iso_elements_t;

/** Make room for @a count elements; iso_elements_free releases it. */
iso_elements_t iso_elements_alloc(long long count, MPI_Datatype type);
void iso_elements_free(iso_elements_t *elements);
