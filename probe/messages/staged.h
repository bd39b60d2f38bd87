/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file staged.h
 * The timed loops of modes.c for an MPI that is not GPU-aware: each message is
 * copied to host memory before MPI sends it, and to the GPU when MPI has
 * received it.
 */
#pragma once

#include "messages/modes.h"

/** The mode of a name that there is, with the loops for the memory in use. */
const iso_mode_t *iso_mode_find(const char *name);

/** Stage the messages of this transfer from now on. */
void iso_staged_begin(const iso_transfer_t *transfer);
