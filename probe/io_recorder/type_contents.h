/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file type_contents.h
 * Contents of a datatype, built with small or large counts.
 */
#pragma once

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

/** As MPI_Type_get_contents of MPI 3 has it, whatever the MPI. */
typedef struct {
    int combiner;
    int64_t *counts;
    int64_t *displacements; /**< those in bytes */
    MPI_Datatype *types;
    int type_count; /**< 0 of predefined datatypes */
} iso_contents_t;

int iso_type_combiner(MPI_Datatype type);

/** Ask for it; to be released, even if there is none.
 *  @return whether the datatype was made of others */
bool iso_type_contents(MPI_Datatype type, iso_contents_t *contents);

void iso_contents_free(iso_contents_t *contents);
