/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file memory.h
 * Memory that messages lie in: of the host, or of the GPU of the rank.
 *
 * An MPI library that does not take pointers to GPU memory is given host
 * memory, and messages are staged: copied from the GPU before they are sent,
 * and to the GPU after they are received. The copies are part of the times.
 */
#pragma once

#include "base/options.h"
#include "machine/gpu.h"

#include <mpi.h>

/** memory, gpu, staging. An experiment without them uses host memory. */
extern const iso_option_t iso_memory_options[];

/** Check these options. @return 0, or -1 with one line in @a error */
int iso_memory_check(char *error);

/** Say that an option with this value needs an MPI that takes GPU memory. */
void iso_memory_needs_mpi(const char *option, const char *value);

/** Whether any message lies in the memory of a GPU. */
bool iso_memory_on_gpu(void);

/** Whether messages are staged; known after iso_memory_begin. */
bool iso_memory_staged(void);

/**
 * Load the driver and choose the GPU of this rank. Local, after MPI_Init.
 *
 * @param local  index of the rank among those of its node
 * @return 0, or -1 with one line in @a error
 */
int iso_memory_begin(int local, char *error);

/** What the run file says of memory. */
typedef struct {
    char text[48]; /**< such as "host", or "cuda (staged)" */
    bool staged;   /**< by the probe */
    /** What MPI says of each driver's memory; the name NULL ends them. */
    struct {
        const char *driver, *aware;
    } kinds[4];
    iso_gpu_t *gpus; /**< of all ranks, at rank 0; NULL: not used */
} iso_memory_t;

/** Collect it. Collective; @a memory is released by iso_memory_forget. */
iso_memory_t iso_memory_gather(MPI_Comm comm, bool simulated);
void iso_memory_forget(iso_memory_t *memory);

/** Ends of a message: --memory may name a memory for each. */
typedef enum { ISO_SENT, ISO_RECEIVED } iso_memory_end_t;

/** A region of such memory, with an image in host memory of the same size. */
typedef struct {
    char *at;    /**< where messages lie */
    char *image; /**< the same as at if that is host memory */
} iso_buffer_t;

/** Allocate @a bytes bytes that are 0, or end all ranks, also if the driver
 *  copies wrong data. */
iso_buffer_t iso_buffer_create(size_t bytes, iso_memory_end_t end);
/** Set a buffer and its image to 1: see iso_touched. */
void iso_buffer_touch(const iso_buffer_t *buffer, size_t bytes);
void iso_buffer_free(iso_buffer_t *buffer);

/** Copy the image to the buffer, or back: @a bytes bytes from @a first on.
 *  Nothing is copied where both are the same. */
void iso_buffer_write(const iso_buffer_t *buffer, size_t first, size_t bytes);
void iso_buffer_read(const iso_buffer_t *buffer, size_t first, size_t bytes);
