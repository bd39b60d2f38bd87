/* SPDX-License-Identifier: BSD-3-Clause */
#include "recorder/writing.h"

#include "recorder/communicators.h"
#include "recorder/sites.h"
#include "recording/memory.h"
#include "recording/output.h"
#include "recording/sending.h"

#include <limits.h>
#include <math.h>

/* --- one rank --------------------------------------------------------------
 */

/* What the run file says of one rank: "rank_time", an "edge" for each rank that
 * it sent to, a "site" for each place it called from, and its sequence as
 * "loop" and "call", in the order `at`, with what belongs to a loop at a
 * greater `depth` after it. */

/** Where a record is in the file. */
typedef struct {
    iso_record_t *record;
    const int *groups;
    int rank, thread, at;
} iso_place_in_t;

/** Write gaps as count, sum, least, most, then tenths and their counts. */
static void write_gap(iso_record_t *record, const char *key,
                      const iso_gap_t *gap)
{
    int tenths = gap->used ? gap->used : gap->count > 0;
    double *values = iso_resized(NULL, (4 + 2 * tenths) * sizeof(*values));
    values[0] = gap->count;
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
    ISO_MEMBERS(place->record, ("rank", place->rank), ("thread", place->thread),
                ("at", place->at++), ("depth", depth));
}

static void write_call(iso_place_in_t *place, const iso_node_t *node, int depth)
{
    iso_record_t *record = place->record;
    const iso_event_t *event = &node->event;
    bool collective = iso_op_effects[event->op] == ISO_COLLECTIVE;
    double calls = node->calls;
    char key[32];
    begin(place, "call", depth);
    ISO_MEMBERS(record, ("op", iso_op_names[event->op]), ("peer", event->peer),
                ("bytes", lround(node->bytes / calls)),
                ("source", event->source),
                ("received", lround(node->received / calls)),
                ("any", (bool)event->any), ("root", event->root),
                ("group", collective ? place->groups[event->group] : ISO_NONE),
                ("requests", event->requests), ("open", (bool)event->open),
                ("calls", node->calls), ("seconds", node->seconds),
                ("site", node->site));
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
        ISO_RECORD(record, "edge", ("from", rank), ("to", edge->key.a),
                   ("messages", edge->messages), ("bytes", lround(edge->bytes)),
                   ("seconds", edge->seconds));
    }
}

/** Warn of omissions. */
static void warn_of_rank(iso_record_t *record, const iso_recording_t *recording,
                         int rank)
{
    int worst = ISO_EXACT, threads = recording->threads->number + 1;
    for (iso_thread_t *t = recording->threads; t; t = t->next) {
        int detail = t->sequence.detail;
        worst = detail > worst ? detail : worst;
    }
    if (worst == ISO_SIZELESS) {
        iso_record_warning(record, "mean-sizes",
                           "rank %d repeats its calls with different sizes: "
                           "the sequence holds mean sizes",
                           rank);
    } else if (worst == ISO_GIVEN_UP) {
        iso_record_warning(
            record, "no-sequence",
            "the calls of rank %d do not repeat: their order was "
            "dropped after %d calls, only totals are recorded",
            rank, ISO_LIMIT);
    }
    if (threads > 1) {
        iso_record_warning(record, "threads",
                           "%d threads of rank %d called MPI", threads, rank);
    }
}

/**
 * @param groups  numbers of the groups in the file, by their numbers here
 * @param asking  seconds that a call takes before it is recorded
 */
static void write_rank(iso_record_t *record, const iso_recording_t *recording,
                       int rank, const int *groups, double asking)
{
    double communication = 0, computation = 0, own = 0, rest = 0;
    long calls = 0;
    for (iso_thread_t *t = recording->threads; t; t = t->next) {
        calls += t->calls;
        communication += t->communication;
        computation += t->computation;
        own += t->own + t->calls * asking;
        rest = t->number == 0 ? t->gap : rest;
    }
    ISO_RECORD(record, "rank_time", ("rank", rank),
               ("seconds", recording->ended - recording->began),
               ("communication", communication), ("computation", computation),
               ("recording", own), ("tail", rest), ("calls", calls),
               ("threads", recording->threads->number + 1));
    write_edges(record, &recording->totals.edges, rank);
    iso_sites_write(record, rank);
    for (iso_thread_t *t = recording->threads; t; t = t->next) {
        iso_place_in_t place = {record, groups, rank, t->number, 0};
        for (int k = 0; k < t->sequence.used; k++) {
            write_node(&place, t->sequence.top[k], 0);
        }
    }
    warn_of_rank(record, recording, rank);
}

/* --- the file of all ranks -------------------------------------------------
 */

/** What rank 0 puts together. */
typedef struct {
    iso_output_t output;
    iso_totals_t totals;
    iso_groups_t groups; /**< of all ranks */
} iso_file_t;

/* --- groups --------------------------------------------------------------- */

/** Send the groups of this rank, as sizes and ranks; get their numbers. */
static int *send_groups(const iso_groups_t *groups, MPI_Comm comm)
{
    long bytes = 0, used = 0;
    for (int k = 0; k < groups->count; k++) {
        bytes += sizeof(int) * (1 + groups->list[k].size);
    }
    int *packed = iso_resized(NULL, bytes);
    for (int k = 0; k < groups->count; k++) {
        const iso_group_t *group = &groups->list[k];
        packed[used++] = group->size;
        memcpy(&packed[used], group->ranks, group->size * sizeof(int));
        used += group->size;
    }
    iso_send_bytes(packed, bytes, 0, comm);
    free(packed);
    return iso_receive_bytes(&bytes, 0, comm);
}

/** Number the groups of all ranks; returns the numbers of those of rank 0. */
static int *number_groups(iso_file_t *file, const iso_groups_t *groups)
{
    MPI_Comm comm = file->output.comm;
    int *own = iso_resized(NULL, groups->count * sizeof(*own));
    for (int k = 0; k < groups->count; k++) {
        own[k] = iso_group_number(&file->groups, groups->list[k].ranks,
                                  groups->list[k].size, INT_MAX);
    }
    for (int r = 1; r < file->output.ranks; r++) {
        long bytes = 0, numbered = 0;
        int *packed = iso_receive_bytes(&bytes, r, comm);
        int *numbers = iso_resized(NULL, bytes);
        for (long k = 0; k < bytes / (long)sizeof(int); k += 1 + packed[k]) {
            numbers[numbered++] = iso_group_number(
                &file->groups, &packed[k + 1], packed[k], INT_MAX);
        }
        iso_send_bytes(numbers, numbered * sizeof(int), r, comm);
        free(numbers);
        free(packed);
    }
    return own;
}

/* --- the file ------------------------------------------------------------- */

static void write_operations(iso_file_t *file)
{
    const iso_operation_total_t *total = NULL;
    iso_record_t *record = &file->output.record;
    while ((total = iso_map_next(&file->totals.operations, total))) {
        int group = total->key.c;
        ISO_RECORD(record, "operation", ("op", iso_op_names[total->key.a]),
                   ("bytes", total->key.b), ("group", group),
                   ("members", group >= 0 ? file->groups.list[group].size : 2),
                   ("calls", total->calls), ("moved", total->bytes),
                   ("seconds", total->seconds), ("most", total->most));
    }
}

/** Take in the totals of a rank. */
static void take_totals(void *self, int rank, const void *list, size_t bytes)
{
    iso_file_t *file = self;
    const iso_operation_total_t *totals = list;
    for (size_t k = 0; k < bytes / sizeof(*totals); k++) {
        iso_totals_merge(&file->totals, &totals[k], totals[k].key.c);
    }
}

/** Copy the totals of this rank, with groups as the file numbers them. */
static iso_operation_total_t *list_totals(const iso_totals_t *totals,
                                          const int *groups, long *count)
{
    iso_operation_total_t *list =
        iso_resized(NULL, totals->operations.count * sizeof(*list));
    const iso_operation_total_t *total = NULL;
    *count = 0;
    while ((total = iso_map_next(&totals->operations, total))) {
        iso_operation_total_t *copy = &list[(*count)++];
        *copy = *total;
        copy->key.c = copy->key.c >= 0 ? groups[copy->key.c] : ISO_NONE;
    }
    return list;
}

static void end_file(iso_file_t *file)
{
    write_operations(file);
    if (file->totals.rounded) {
        iso_record_warning(&file->output.record, "rounded-sizes",
                           "too many different sizes: some are combined up to "
                           "the next power of two");
    }
    iso_groups_free(&file->groups);
    iso_totals_free(&file->totals);
}

void iso_writing(const iso_recording_t *recording, double asking)
{
    iso_file_t file = {.totals = iso_totals()};
    iso_output_t *output = &file.output;
    char *text = NULL;
    size_t length = 0;
    long totals_count = 0;
    iso_output_begin(
        output, recording->path, "recording",
        "wall-clock time in calls of MPI, processor time between them");
    int *numbers = output->rank == 0 ? number_groups(&file, iso_groups())
                                     : send_groups(iso_groups(), output->comm);
    FILE *stream = iso_memory_open(&text, &length);
    iso_record_t record = {.stream = stream};
    write_rank(&record, recording, output->rank, numbers, asking);
    iso_memory_close(stream);
    iso_operation_total_t *totals =
        list_totals(&recording->totals, numbers, &totals_count);
    for (int k = 0; k < file.groups.count; k++) {
        const iso_group_t *group = &file.groups.list[k];
        char *ranks = iso_output_ranks(group->ranks, group->size);
        ISO_RECORD(&output->record, "group", ("group", k), ("members", ranks));
        free(ranks);
    }
    iso_output_collect(output, text, length, totals,
                       totals_count * sizeof(*totals), &file, take_totals);
    if (output->rank == 0) {
        end_file(&file);
        if (recording->partial) {
            iso_record_warning(&output->record, "no-finalize",
                               "the program ended without MPI_Finalize");
        }
    }
    iso_output_end(output, recording->ended - recording->began,
                   !recording->partial);
    free(totals);
    free(text);
    free(numbers);
}
