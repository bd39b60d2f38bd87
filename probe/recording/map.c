/* SPDX-License-Identifier: BSD-3-Clause */
#include "recording/map.h"

#include "recording/memory.h"

static iso_key_t *entry_at(const iso_map_t *map, int index)
{
    return (iso_key_t *)(void *)(map->entries + index * map->size);
}

static int32_t *head_of(const iso_map_t *map, int64_t a, int64_t b, int64_t c)
{
    uint64_t hash = iso_mix(iso_mix(iso_mix(1, a), b), c);
    return &map->heads[(hash >> 32) % map->buckets];
}

iso_map_t iso_map(size_t size)
{
    return (iso_map_t){.size = size, .removed = -1};
}

void *iso_map_find(const iso_map_t *map, int64_t a, int64_t b, int64_t c)
{
    if (map->count == 0) {
        return NULL;
    }
    for (int k = *head_of(map, a, b, c); k >= 0; k = entry_at(map, k)->next) {
        iso_key_t *key = entry_at(map, k);
        if (key->a == a && key->b == b && key->c == c) {
            return key;
        }
    }
    return NULL;
}

/** Make room, and buckets, for twice as many. */
static void grow(iso_map_t *map)
{
    map->room = map->room ? 2 * map->room : 16;
    map->entries = iso_resized(map->entries, map->room * map->size);
    map->buckets = 2 * map->room;
    map->heads = iso_resized(map->heads, map->buckets * sizeof(*map->heads));
    memset(map->heads, 0xff, map->buckets * sizeof(*map->heads));
    for (int k = 0; k < map->used; k++) { /* all are there, or it had room */
        iso_key_t *key = entry_at(map, k);
        int32_t *head = head_of(map, key->a, key->b, key->c);
        key->next = *head;
        *head = k;
    }
}

void *iso_map_get(iso_map_t *map, int64_t a, int64_t b, int64_t c)
{
    iso_key_t *key = iso_map_find(map, a, b, c);
    if (key) {
        return key;
    }
    if (map->removed < 0 && map->used == map->room) {
        grow(map);
    }
    int index = map->removed >= 0 ? map->removed : map->used;
    key = entry_at(map, index);
    if (map->removed >= 0) {
        map->removed = key->next;
    } else {
        map->used++;
    }
    memset(key, 0, map->size);
    int32_t *head = head_of(map, a, b, c);
    *key = (iso_key_t){.a = a, .b = b, .c = c, .next = *head, .used = 1};
    *head = index;
    map->count++;
    return key;
}

void iso_map_remove(iso_map_t *map, void *entry)
{
    iso_key_t *gone = entry;
    int index = (((char *)entry - map->entries) / map->size);
    int32_t *link = head_of(map, gone->a, gone->b, gone->c);
    while (*link != index) {
        link = &entry_at(map, *link)->next;
    }
    *link = gone->next;
    gone->used = 0;
    gone->next = map->removed;
    map->removed = index;
    map->count--;
}

void *iso_map_next(const iso_map_t *map, const void *before)
{
    int index = 0;
    if (before) {
        index = 1 + (((const char *)before - map->entries) / map->size);
    }
    while (index < map->used && !entry_at(map, index)->used) {
        index++;
    }
    return index < map->used ? entry_at(map, index) : NULL;
}

void iso_map_free(iso_map_t *map)
{
    free(map->entries);
    free(map->heads);
    *map = iso_map(map->size);
}
