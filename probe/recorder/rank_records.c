/* SPDX-License-Identifier: BSD-3-Clause */
#include "recorder/rank_records.h"

#include "recording/memory.h"

#include <math.h>

/** Where a record is in the file. */
typedef struct iso_place_in {
    iso_record_t *record;
    const int *groups;
    int rank, thread, at;
} iso_place_in_t;

/** Write gaps as count, sum, least, most, then tenths and their counts. */
static void write_gap(iso_record_t *record, const char *key,
                      const iso_gap_t *gap)
{
    int tenths = gap->used ? gap->used : gap->count > 0;
    double *values =
        iso_resized(NULL, (size_t)(4 + 2 * tenths) * sizeof(*values));
    values[0] = (double)gap->count;
    values[1] = gap->total;
    values[2] = gap->least;
    values[3] = gap->most;
    if (tenths && gap->used == 0) {
        values[4] = iso_gap_tenth(gap->total);
        values[5] = 1;
    }
    for (int k = 0; k < gap->used; k++) {
        values[4 + 2 * k] = gap->tenths[k].tenth;
        values[5 + 2 * k] = gap->tenths[k].count;
    }
    iso_record_doubles(record, key, values, 4 + 2 * tenths);
    free(values);
}

static void begin(iso_place_in_t *place, const char *name, int depth)
{
    iso_record_begin(place->record, name);
    iso_record_int(place->record, "rank", place->rank);
    iso_record_int(place->record, "thread", place->thread);
    iso_record_int(place->record, "at", place->at++);
    iso_record_int(place->record, "depth", depth);
}

static void write_call(iso_place_in_t *place, const iso_node_t *node, int depth)
{
    iso_record_t *record = place->record;
    const iso_event_t *event = &node->event;
    bool collective = iso_op_effects[event->op] == ISO_COLLECTIVE;
    double calls = (double)node->calls;
    char key[32];
    begin(place, "call", depth);
    iso_record_text(record, "op", iso_op_names[event->op]);
    iso_record_int(record, "peer", event->peer);
    iso_record_int(record, "bytes", lround(node->bytes / calls));
    iso_record_int(record, "source", event->source);
    iso_record_int(record, "received", lround(node->received / calls));
    iso_record_bool(record, "any", event->any);
    iso_record_int(record, "root", event->root);
    iso_record_int(record, "group",
                   collective ? place->groups[event->group] : ISO_NONE);
    iso_record_int(record, "requests", event->requests);
    iso_record_bool(record, "open", event->open);
    iso_record_int(record, "calls", node->calls);
    iso_record_double(record, "seconds", node->seconds);
    write_gap(record, "gap", &node->gap);
    int level = 1;
    for (const iso_gap_t *gap = node->gap.outer; gap; gap = gap->outer) {
        snprintf(key, sizeof(key), "gap_%d", level++);
        write_gap(record, key, gap);
    }
    iso_record_end(record);
}

static void write_node(iso_place_in_t *place, const iso_node_t *node, int depth)
{
    if (node->length == 0) {
        write_call(place, node, depth);
        return;
    }
    begin(place, "loop", depth);
    iso_record_int(place->record, "count", node->count);
    iso_record_end(place->record);
    for (int k = 0; k < node->length; k++) {
        write_node(place, node->body[k], depth + 1);
    }
}

static void write_edges(iso_record_t *record, const iso_map_t *edges, int rank)
{
    const iso_edge_total_t *edge = NULL;
    while ((edge = iso_map_next(edges, edge))) {
        iso_record_begin(record, "edge");
        iso_record_int(record, "from", rank);
        iso_record_int(record, "to", (long)edge->key.a);
        iso_record_int(record, "messages", (long)edge->messages);
        iso_record_int(record, "bytes", lround(edge->bytes));
        iso_record_double(record, "seconds", edge->seconds);
        iso_record_end(record);
    }
}

/** Warn of what was not kept. */
static void warn(iso_record_t *record, const iso_recording_t *recording,
                 int rank)
{
    int worst = ISO_EXACT, threads = recording->threads->number + 1;
    for (iso_thread_t *t = recording->threads; t; t = t->next) {
        int detail = (int)t->sequence.detail;
        worst = detail > worst ? detail : worst;
    }
    if (worst == ISO_SIZELESS) {
        iso_record_warning(
            record, "mean-sizes",
            "the calls of rank %d repeat themselves with sizes that "
            "differ: those of its sequence are means",
            rank);
    } else if (worst == ISO_GIVEN_UP) {
        iso_record_warning(
            record, "no-sequence",
            "the calls of rank %d do not repeat themselves: their "
            "sequence was given up after %d, and only totals are known",
            rank, ISO_LIMIT);
    }
    if (threads > 1) {
        iso_record_warning(record, "threads",
                           "%d threads of rank %d called MPI", threads, rank);
    }
}

void iso_rank_records(iso_record_t *record, const iso_recording_t *recording,
                      int rank, const int *groups, double asking)
{
    double communication = 0, computation = 0, own = 0, rest = 0;
    long calls = 0;
    for (iso_thread_t *t = recording->threads; t; t = t->next) {
        calls += t->calls;
        communication += t->communication;
        computation += t->computation;
        own += t->own + (double)t->calls * asking;
        rest = t->number == 0 ? t->gap : rest;
    }
    iso_record_begin(record, "rank_time");
    iso_record_int(record, "rank", rank);
    iso_record_double(record, "seconds", recording->ended - recording->began);
    iso_record_double(record, "communication", communication);
    iso_record_double(record, "computation", computation);
    iso_record_double(record, "recording", own);
    iso_record_double(record, "tail", rest);
    iso_record_int(record, "calls", calls);
    iso_record_int(record, "threads", recording->threads->number + 1);
    iso_record_end(record);
    write_edges(record, &recording->totals.edges, rank);
    for (iso_thread_t *t = recording->threads; t; t = t->next) {
        iso_place_in_t place = {record, groups, rank, t->number, 0};
        for (int k = 0; k < t->sequence.used; k++) {
            write_node(&place, t->sequence.top[k], 0);
        }
    }
    warn(record, recording, rank);
}
