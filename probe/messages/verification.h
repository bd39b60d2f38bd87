/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file verification.h
 * Verifies transfers: the timed loop of the mode runs once between two ranks,
 * and every byte that it moves is compared.
 *
 * What a rank sends, and what its memory holds before, encode the rank and the
 * place, in numbers small enough that sums of two are exact in a byte. Three
 * sizes of the sweep are tried, the smallest, the middle and the largest, cut
 * so that a window has at most ISO_VERIFIED_WINDOW bytes. Afterwards the memory
 * is as iso_transfer_init made it.
 */
#pragma once

#include "base/pairs.h"
#include "messages/transfer.h"

enum { ISO_VERIFIED_WINDOW = 4 << 20 };

/**
 * Verify the transfers of pairs, report those with wrong data in warnings,
 * "wrong-result", and take them off the list. Collective over ctx->comm.
 *
 * @return how many pairs are left, the same on all ranks
 */
int iso_transfer_verify(iso_transfer_t *transfer, const iso_sizes_t *sizes,
                        iso_pair_t *pairs, int count);
