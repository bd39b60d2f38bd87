/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file program.h
 * What a library that is loaded into programs does when they begin and end;
 * each defines it. The calls that come here, from C and from Fortran, may come
 * here twice, if one calls the other.
 */
#ifndef ISO_PROGRAM_H
#define ISO_PROGRAM_H

/** Name in front of what the library says. */
extern const char *const iso_program_library;

/** After MPI_Init. Collective. */
void iso_program_begins(void);

/** Before MPI_Finalize. Collective. */
void iso_program_ends(void);

#endif
