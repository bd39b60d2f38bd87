/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file program.h
 * Start and end hooks of a preloaded library; each library defines them. They
 * may be called twice: from C and from Fortran.
 */
#pragma once

/** Prefix of the library's messages. */
extern const char *const iso_program_library;

/** After MPI_Init. Collective. */
void iso_program_begins(void);

/** Before MPI_Finalize. Collective. */
void iso_program_ends(void);
