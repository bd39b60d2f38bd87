/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file source.h
 * Reading the program file: rank 0 reads it and distributes it.
 */
#pragma once

#include "experiment.h"
#include "experiments/app/program.h"

/**
 * Read a program file for a number of ranks. Where MPI runs, all
 * ranks call it; rank 0 reads, and all return the same.
 *
 * @return 0, or -1 with one line in @a error
 */
int iso_source_load(const char *path, int ranks, char *error);

/** Bytes of memory that a rank needs for its messages, on all ranks. */
double iso_source_memory(void);

/** At rank 0: the program, without steps. */
const iso_program_t *iso_source_program(void);

/** Role of a rank of the job. */
typedef struct iso_role {
    int app, rank; /**< -1: none */
} iso_role_t;

/**
 * End all ranks with one line if shared memory is requested between nodes.
 * Collective.
 *
 * @param members  at rank 0: ranks of each application in the job
 */
void iso_source_check_nodes(const iso_context_t *ctx, int *const *members);

/**
 * Give every rank its role and its part of the program. Collective.
 *
 * @param roles  at rank 0: of all ranks
 */
iso_role_t iso_source_share(const iso_context_t *ctx, const iso_role_t *roles,
                            iso_program_t *program);

/** Forget the file. */
void iso_source_free(void);
