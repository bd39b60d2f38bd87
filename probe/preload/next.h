/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file next.h
 * The next definition of an intercepted function in link order, which is called
 * in its place, so that other tools still work.
 */
#pragma once

/** Return the function of this name behind this library, or end the program. */
void *iso_next(const char *name);
