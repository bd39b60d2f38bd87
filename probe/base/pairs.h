/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file pairs.h
 * Pairs of ranks as a user lists them: "0-5,3-7". Knows nothing of MPI.
 */
#pragma once

typedef struct {
    int i, j; /**< ranks */
} iso_pair_t;

/**
 * Read the next pair of a list.
 *
 * @param rest  remainder of the list; moved behind the pair, NULL behind the
 *              last one
 * @param pair  the two ranks, not the same, in the order given
 * @return 1, 0 if nothing is left, or -1 if it is no pair
 */
int iso_pairs_next(const char **rest, iso_pair_t *pair);

/**
 * Check that the ranks of a list, which was read to its end before, exist.
 *
 * @param list   NULL: nothing is listed
 * @param ranks  number of ranks
 * @param error  at least ISO_ERROR_LENGTH bytes
 * @return 0, or -1 with one line in @a error
 */
int iso_pairs_check_ranks(const char *list, int ranks, char *error);
