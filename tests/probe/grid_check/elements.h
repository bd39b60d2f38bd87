/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file elements.h
 * Datatypes whose layout is known, memory full of them with guards around it,
 * and operations of our own on them.
 */
#ifndef GRID_CHECK_ELEMENTS_H
#define GRID_CHECK_ELEMENTS_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MAX_FIELDS = 3, GUARD = 32 };

/** What an element consists of, in the order of its signature. */
typedef enum family {
    INTS,    /**< fields are int */
    DOUBLES, /**< one double */
    PAIRS,   /**< a double and an int */
} family_t;

typedef struct element {
    const char *name;
    family_t family;
    int fields;
    MPI_Aint at[MAX_FIELDS];
    MPI_Aint low, extent; /**< lower bound, and bytes from one to the next */
    bool exact_gaps;      /**< no library writes into its gaps */
    MPI_Datatype type;
} element_t;

/** Make all datatypes; their number is returned. */
int elements_begin(void);
const element_t *element(int index);
void elements_end(void);

/** Composition of x -> a x + b, which does not commute, and the sum of all
 *  fields; on elements of ints. */
extern MPI_Op op_affine, op_add;

/** Memory for elements, full of random bytes, with guards. */
typedef struct region {
    const element_t *element;
    int count;
    unsigned char *memory;
    size_t size;
    char *origin; /**< where the first element begins */
} region_t;

/** @param small  doubles are small whole numbers, of which sums are exact */
region_t region_make(const element_t *element, int count, uint64_t seed,
                     bool small);
region_t region_copy(const region_t *region);
void region_free(region_t *region);

/** Whether two regions are equal to the byte; gaps count if the type says so.
 */
bool region_equal(const region_t *a, const region_t *b);

/** Set each double to its absolute value. */
void region_absolute(region_t *region);

/** Whether doubles differ by at most @a factor times those in @a scale. */
bool region_close(const region_t *a, const region_t *b, const region_t *scale,
                  double factor);

#endif
