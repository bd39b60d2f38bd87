/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file gpu.h
 * Drivers of GPUs: their libraries are loaded when they are needed, so that the
 * probe is built and runs without any of them.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/** Entry points of a driver. Numbers other than 0 are its error codes. */
typedef struct {
    int (*begin)(unsigned flags); /**< flags: 0 */
    int (*count)(int *gpus);
    int (*pci)(char *address, int room, int gpu); /**< "0000:0b:00.0" */
    int (*peer)(int *access, int gpu, int other); /**< without the host */
    int (*allocate)(void **memory, size_t bytes); /**< of the chosen GPU */
    int (*release)(void *memory);
    int (*write)(void *gpu, const void *host, size_t bytes);
    int (*read)(void *host, const void *gpu, size_t bytes);
    int (*settle)(void);    /**< wait until copies are complete */
    int (*choose)(int gpu); /**< for all calls of this thread from now on */
    /** Link to another GPU that has access: "nvlink", ...; NULL: not known. */
    const char *(*link)(int gpu, int other);
} iso_gpu_calls_t;

typedef struct {
    const char *name;       /**< as the user types it */
    const char *kind;       /**< as MPI 4.1 names its memory */
    const char *library;    /**< file */
    const char *queries[3]; /**< who says whether MPI takes such memory */
    int mpich;              /**< number of the kind in MPIX_GPU_query_support */
    /** Find the entry points. @return whether all are there */
    bool (*find)(void *library, iso_gpu_calls_t *calls);
} iso_gpu_driver_t;

/** All drivers; the name NULL ends them. */
extern const iso_gpu_driver_t iso_gpu_drivers[];

/** Store the addresses of functions one after the other, those that a library
 *  lacks as NULL. @return whether it has all */
bool iso_gpu_find(void *library, const char *const names[], size_t count,
                  void *functions);

/** Those of Level Zero, which has other functions. */
bool iso_level_zero_find(void *library, iso_gpu_calls_t *calls);

enum { ISO_GPU_ADDRESS = 16, ISO_GPU_LINK = 8, ISO_GPU_LINKS = 16 };

/** The GPU of a rank, as recorded. */
typedef struct {
    int number; /**< as its process counts; -1: none */
    int numa;   /**< of its PCI slot; -1: not known */
    int links;  /**< number of other GPUs that the process sees */
    char address[ISO_GPU_ADDRESS];
    struct {
        char address[ISO_GPU_ADDRESS], link[ISO_GPU_LINK];
    } other[ISO_GPU_LINKS]; /**< "nvlink", "xgmi", "pcie", "peer" (a direct
                                 link), or "host" (no direct access) */
} iso_gpu_t;

/** Describe a GPU of @a gpus. */
iso_gpu_t iso_gpu_describe(const iso_gpu_calls_t *calls, int gpu, int gpus);

/**
 * Whether the MPI library takes pointers to memory of a driver: "yes", "no" or
 * "unknown". After MPI_Init.
 */
const char *iso_gpu_aware(const iso_gpu_driver_t *driver);
