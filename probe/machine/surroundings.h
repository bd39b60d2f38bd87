/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file surroundings.h
 * What a node is and how it is set: things that change times from one run to
 * the next, or from one node to another, while all that was asked for is the
 * same.
 */
#ifndef ISO_SURROUNDINGS_H
#define ISO_SURROUNDINGS_H

#include <stdint.h>

/** What is compared between ranks. */
enum iso_surrounding {
    ISO_SETTINGS, /**< of the MPI library, settings.h */
    ISO_KERNEL,
    ISO_PROCESSOR,
    ISO_GOVERNOR,
    ISO_NUMA,
    ISO_SURROUNDINGS,
};

typedef struct iso_surroundings {
    char kernel[128];    /**< its release; "" if not known */
    char processor[128]; /**< model */
    char governor[32];   /**< who sets the frequency of this processor */
    int numa;            /**< number of NUMA nodes; 0 if not known */
} iso_surroundings_t;

/** Find out what is around this process. @param cpu  that it is on, or -1 */
iso_surroundings_t iso_surroundings_find(int cpu);

/** Sums of this process that are equal where the surroundings are.
 *  @param sums  room for ISO_SURROUNDINGS */
void iso_surroundings_sums(int cpu, uint32_t *sums);

#endif
