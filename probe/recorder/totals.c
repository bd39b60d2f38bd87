/* SPDX-License-Identifier: BSD-3-Clause */
#include "recorder/totals.h"

enum {
    MOST_SIZES = 4096, /**< of all operations, before sizes are rounded */
};

iso_totals_t iso_totals(void)
{
    return (iso_totals_t){
        .operations = iso_map(sizeof(iso_operation_total_t)),
        .edges = iso_map(sizeof(iso_edge_total_t)),
    };
}

/** Round down to a power of two. */
static int64_t rounded(int64_t bytes)
{
    while (bytes & (bytes - 1)) {
        bytes &= bytes - 1;
    }
    return bytes;
}

/** Return the total for an operation, size and group. */
static iso_operation_total_t *total_of(iso_totals_t *totals, int64_t op,
                                       int64_t bytes, int64_t group)
{
    iso_operation_total_t *found =
        iso_map_find(&totals->operations, op, bytes, group);
    if (found == NULL && totals->operations.count >= MOST_SIZES) {
        totals->rounded = 1;
        bytes = rounded(bytes);
    }
    return found ? found : iso_map_get(&totals->operations, op, bytes, group);
}

void iso_totals_add(iso_totals_t *totals, const iso_event_t *event,
                    double seconds)
{
    iso_effect_t effect = iso_op_effects[event->op];
    int64_t group = effect == ISO_COLLECTIVE ? event->group : ISO_NONE;
    iso_operation_total_t *total =
        total_of(totals, event->op, event->bytes, group);
    total->calls++;
    total->bytes += (double)event->bytes;
    total->seconds += seconds;
    total->most = total->most > seconds ? total->most : seconds;
    if ((effect == ISO_SENDS || effect == ISO_BOTH) &&
        event->peer != ISO_NONE) {
        iso_edge_total_t *edge = iso_map_get(&totals->edges, event->peer, 0, 0);
        edge->messages++;
        edge->bytes += (double)event->bytes;
        edge->seconds += seconds;
    }
}

void iso_totals_merge(iso_totals_t *totals, const iso_operation_total_t *other,
                      int64_t group)
{
    iso_operation_total_t *total =
        total_of(totals, other->key.a, other->key.b, group);
    total->calls += other->calls;
    total->bytes += other->bytes;
    total->seconds += other->seconds;
    total->most = total->most > other->most ? total->most : other->most;
}

void iso_totals_free(iso_totals_t *totals)
{
    iso_map_free(&totals->operations);
    iso_map_free(&totals->edges);
}
