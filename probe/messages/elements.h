/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file elements.h
 * The elements of messages by their words: MPI datatypes, and how they are
 * reduced.
 */
#pragma once

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct {
    const char *word; /**< as the user types it; NULL ends the table */
    size_t size;      /**< bytes of data */
    size_t extent;    /**< bytes from one element to the next */
    bool ordered;     /**< has a maximum */
    bool summed;      /**< MPI can add them by itself */
    MPI_User_function *add;
    /** Store a whole number as an element. */
    void (*store)(char *element, double value);
} iso_element_t;

/** All elements. "byte" is the first; the word NULL ends them. */
extern const iso_element_t iso_elements[];

/** Find an element by its word, or NULL. */
const iso_element_t *iso_element_find(const char *word);

/** Its datatype, to be freed by iso_element_free. */
MPI_Datatype iso_element_type(const iso_element_t *element);
void iso_element_free(const iso_element_t *element, MPI_Datatype *type);

/** The reduction sum, max or user, to be freed by iso_reduction_free. "user"
 *  adds, as a function that MPI calls. */
MPI_Op iso_reduction(const iso_element_t *element, const char *word);
void iso_reduction_free(MPI_Op *reduction, const char *word);

/** Words of both, as in an option. */
#define ISO_ELEMENT_WORDS   "byte|char|double|float|int|complex|strided"
#define ISO_REDUCTION_WORDS "sum|max|user"
