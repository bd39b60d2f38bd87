/* SPDX-License-Identifier: BSD-3-Clause */
#include "io_recorder/shapes.h"

#include "recording/memory.h"

/** An entry of the map: which shape has this hash. */
typedef struct iso_known {
    iso_key_t key;
    int shape;
} iso_known_t;

iso_shapes_t iso_shapes(void)
{
    return (iso_shapes_t){.by_hash = iso_map(sizeof(iso_known_t))};
}

static uint64_t hash_of(const iso_pieces_t *list, int64_t base)
{
    uint64_t hash = iso_mix(1, list->bytes);
    for (int k = 0; k < list->used; k++) {
        const iso_run_t *run = &list->runs[k];
        hash = iso_mix(hash, (run->offset - base));
        hash = iso_mix(hash, run->length);
        hash = iso_mix(hash, run->count);
        hash = iso_mix(hash, run->stride);
    }
    return hash;
}

/** Copy the runs, counted from the first, if there is room. */
static void keep_runs(iso_shapes_t *shapes, iso_shape_t *shape,
                      const iso_pieces_t *list, int64_t base)
{
    shape->left_out =
        list->too_many || shapes->runs + list->used > ISO_MAX_STORED_RUNS;
    if (shape->left_out) {
        return;
    }
    shapes->runs += list->used;
    shape->used = list->used;
    shape->runs = iso_resized(NULL, list->used * sizeof(iso_run_t));
    for (int k = 0; k < list->used; k++) {
        shape->runs[k] = list->runs[k];
        shape->runs[k].offset -= base;
    }
}

int iso_shapes_add(iso_shapes_t *shapes, const iso_pieces_t *list,
                   int64_t *base)
{
    *base = list->used ? list->runs[0].offset : 0;
    uint64_t hash = hash_of(list, *base);
    iso_known_t *known = iso_map_find(&shapes->by_hash, hash, 0, 0);
    if (known) {
        return known->shape;
    }
    ISO_GROW(shapes->list, shapes->used, shapes->room);
    iso_shape_t *shape = &shapes->list[shapes->used];
    *shape = (iso_shape_t){
        .hash = hash, .bytes = list->bytes, .pieces = list->pieces};
    keep_runs(shapes, shape, list, *base);
    known = iso_map_get(&shapes->by_hash, hash, 0, 0);
    known->shape = shapes->used;
    return shapes->used++;
}

void iso_shapes_free(iso_shapes_t *shapes)
{
    for (int k = 0; k < shapes->used; k++) {
        free(shapes->list[k].runs);
    }
    free(shapes->list);
    iso_map_free(&shapes->by_hash);
}
