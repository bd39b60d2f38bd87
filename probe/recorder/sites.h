/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file sites.h
 * Where in the program calls of MPI are. The return address of an intercepted
 * call says it; only where the MPI library stands between (Fortran), the stack
 * is walked, once for each return address and height of the stack.
 */
#pragma once

#include "runfile/record.h"

void iso_sites_begin(void);

/**
 * Number a call site.
 *
 * @param from   return address of the intercepted call
 * @param frame  its stack frame
 * @return the number of the site, or ISO_NONE if it is not known
 */
int iso_sites_number(const void *from, const void *frame);

/** Write a record "site" for each number: file of the code, and offset in it.
 */
void iso_sites_write(iso_record_t *record, int rank);

void iso_sites_end(void);
