/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file on_grid.h
 * The operations as two phases on a grid, called as operations.h calls the
 * library's own.
 */
#pragma once

#include "messages/operations.h"

/** The realisation of an operation on the grid of the call, or NULL. */
void (*iso_on_grid(const iso_operation_t *operation))(const iso_call_t *call);
