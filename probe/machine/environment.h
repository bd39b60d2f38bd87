/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file environment.h
 * Hardware and system settings of a node that change times between runs or
 * nodes.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum { ISO_MODEL = 128 /**< room for the model of a processor */ };

/** Properties compared between ranks. */
enum iso_environment_part {
    ISO_SETTINGS, /**< of the MPI library, settings.h */
    ISO_KERNEL,
    ISO_PROCESSOR,
    ISO_GOVERNOR,
    ISO_NUMA,
    ISO_ENVIRONMENT,
};

typedef struct {
    char kernel[128];          /**< its release; "" if not known */
    char processor[ISO_MODEL]; /**< model */
    char governor[32];         /**< who sets the frequency of this processor */
    int numa;                  /**< number of NUMA nodes; 0 if not known */
} iso_environment_t;

/** Properties of the environment of this process. @param cpu  current one, or
 * -1 */
iso_environment_t iso_environment_find(int cpu);

/** The first line of a file of the kernel; empty if it cannot be read. */
void iso_environment_line(const char *path, char *line, size_t room);

/** Checksums of this process, equal where the environment is.
 *  @param around  its properties
 *  @param sums    room for ISO_ENVIRONMENT */
void iso_environment_sums(const iso_environment_t *around, uint32_t *sums);
