/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file map.h
 * Entries found by three numbers. An entry is a struct that begins with an
 * iso_key_t; its index is constant until it is removed.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

typedef struct {
    int64_t a, b, c;
    int32_t next; /**< in the bucket, or among those removed */
    int32_t used; /**< whether it is there */
} iso_key_t;

typedef struct {
    size_t size; /**< of an entry */
    char *entries;
    int32_t *heads;
    int buckets, used, room, removed, count;
} iso_map_t;

/** Mix a number into a hash. */
static inline uint64_t iso_mix(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * 0x9e3779b97f4a7c15u;
    return hash ^ (hash >> 29);
}

/** A map of entries of this size. */
iso_map_t iso_map(size_t size);

/** Return an entry, or NULL. */
void *iso_map_find(const iso_map_t *map, int64_t a, int64_t b, int64_t c);

/** Return an entry; one that is new is 0 but for its key. Pointers to other
 *  entries are no longer valid. */
void *iso_map_get(iso_map_t *map, int64_t a, int64_t b, int64_t c);

void iso_map_remove(iso_map_t *map, void *entry);

/** Return the entry after @a before, the first for NULL, or NULL. */
void *iso_map_next(const iso_map_t *map, const void *before);

void iso_map_free(iso_map_t *map);
