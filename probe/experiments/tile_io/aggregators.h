/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file aggregators.h
 * Which ranks access the file for all, where that is not left to the library.
 */
#ifndef ISO_AGGREGATORS_H
#define ISO_AGGREGATORS_H

#include "experiment.h"

/**
 * Read "0,12,4": ranks, each once, in the order of their parts of the file.
 *
 * @param list   room for @a ranks + 1
 * @param error  at least ISO_ERROR_LENGTH bytes
 * @return how many, or -1 with one line in @a error
 */
int iso_aggregators_parse(const char *text, int ranks, int *list, char *error);

/**
 * The first rank of each node, in the order of ranks. Collective.
 *
 * @return released by free
 */
int *iso_aggregators_one_a_node(const iso_context_t *ctx, int *count);

#endif
