/* SPDX-License-Identifier: BSD-3-Clause */
#include "io_recorder/patterns.h"

#include "recording/memory.h"
#include "recording/sending.h"
#include "runfile/record.h"

#include <stdio.h>

enum { MAX_RECORDS = 1 << 21, LEAST_RECORDS = 1 << 12 };

/** An entry of the map: the pattern of calls of this hash. */
typedef struct iso_known {
    iso_key_t key; /**< hash, file and direction, bytes */
    int pattern;
} iso_known_t;

static void add_pattern(iso_patterns_t *patterns, int file,
                        const iso_gathered_call_t *call)
{
    patterns->list = iso_resized(patterns->list, (size_t)(patterns->used + 1) *
                                                     sizeof(*patterns->list));
    patterns->list[patterns->used++] =
        (iso_pattern_t){.file = file,
                        .write = call->write,
                        .whole = true,
                        .bytes = call->bytes,
                        .pieces = call->pieces,
                        .reference = call->reference,
                        .of = call->file,
                        .sequence = call->sequence};
}

iso_patterns_t iso_patterns_find(iso_gathered_t *all)
{
    iso_patterns_t patterns = {0};
    iso_map_t known = iso_map(sizeof(iso_known_t));
    for (int k = 0; k < all->call_count; k++) {
        iso_gathered_call_t *call = &all->calls[k];
        const iso_opened_t *file = iso_gathered_file(all, call->file);
        int64_t kind = 2 * (int64_t)file->joined + call->write;
        iso_known_t *found = NULL;
        call->pattern = -1;
        if (call->placed && call->ranks == file->rank_count) {
            found =
                iso_map_find(&known, (int64_t)call->hash, kind, call->bytes);
            if (found == NULL && patterns.used < ISO_MAX_PATTERNS) {
                found =
                    iso_map_get(&known, (int64_t)call->hash, kind, call->bytes);
                found->pattern = patterns.used;
                add_pattern(&patterns, file->joined, call);
            }
        }
        if (found) {
            call->pattern = found->pattern;
            patterns.list[call->pattern].calls++;
        } else {
            patterns.left_out++;
        }
    }
    iso_map_free(&known);
    return patterns;
}

/* --- pieces --------------------------------------------------------------- */

/** Return the call of this rank that is the first of a pattern, or NULL. */
static const iso_io_call_t *first_call(const iso_io_recording_t *recording,
                                       const iso_pattern_t *pattern)
{
    for (int k = 0; k < recording->call_count; k++) {
        const iso_io_call_t *call = &recording->calls[k];
        if (call->sequence == pattern->sequence &&
            call->file.leader == pattern->of.leader &&
            call->file.number == pattern->of.number) {
            return call;
        }
    }
    return NULL;
}

static void write_piece(iso_record_t *record, int pattern, int rank,
                        const iso_run_t *run, int64_t base)
{
    iso_record_begin(record, "piece");
    iso_record_int(record, "pattern", pattern);
    iso_record_int(record, "rank", rank);
    iso_record_int(record, "offset", (long)(base + run->offset));
    iso_record_int(record, "length", (long)run->length);
    iso_record_int(record, "count", (long)run->count);
    iso_record_int(record, "stride", (long)run->stride);
    iso_record_end(record);
}

/** Write what this rank accesses in each pattern, and mark in @a whole where
 *  that is too much. */
static void write_pieces(const iso_patterns_t *patterns,
                         const iso_io_recording_t *recording, FILE *stream,
                         int rank, int ranks, char *whole)
{
    iso_record_t record = {.stream = stream};
    int room = MAX_RECORDS / ranks;
    room = room > LEAST_RECORDS ? room : LEAST_RECORDS;
    for (int p = 0; p < patterns->used; p++) {
        const iso_io_call_t *call = first_call(recording, &patterns->list[p]);
        whole[p] = 1;
        if (call == NULL) {
            continue;
        }
        const iso_shape_t *shape = &recording->shapes.list[call->shape];
        whole[p] = !shape->left_out && shape->used <= room;
        for (int k = 0; k < shape->used && whole[p]; k++) {
            write_piece(&record, p, rank, &shape->runs[k], call->base);
        }
        if (call->bytes == 0) {
            iso_run_t none = {.count = 1};
            write_piece(&record, p, rank, &none, call->base);
        }
        room -= whole[p] ? shape->used : 0;
    }
}

static void mark(iso_patterns_t *patterns, const char *whole)
{
    for (int p = 0; p < patterns->used; p++) {
        patterns->list[p].whole = patterns->list[p].whole && whole[p];
    }
}

/** Write what the other ranks send. */
static void take_pieces(iso_patterns_t *patterns, FILE *stream, int ranks,
                        MPI_Comm comm)
{
    for (int r = 1; r < ranks; r++) {
        long length = 0, count = 0;
        char *text = iso_receive_bytes(&length, r, comm);
        char *whole = iso_receive_bytes(&count, r, comm);
        fwrite(text, 1, (size_t)length, stream);
        mark(patterns, whole);
        free(text);
        free(whole);
    }
}

void iso_patterns_pieces(iso_patterns_t *patterns,
                         const iso_io_recording_t *recording, FILE *stream,
                         MPI_Comm comm)
{
    int rank = 0, ranks = 0;
    PMPI_Comm_rank(comm, &rank);
    PMPI_Comm_size(comm, &ranks);
    PMPI_Bcast(&patterns->used, 1, MPI_INT, 0, comm);
    size_t bytes = (size_t)patterns->used * sizeof(*patterns->list);
    patterns->list = iso_resized(patterns->list, bytes);
    PMPI_Bcast(patterns->list, (int)bytes, MPI_BYTE, 0, comm);
    char *whole = iso_zeroed((size_t)patterns->used);
    if (rank == 0) {
        write_pieces(patterns, recording, stream, rank, ranks, whole);
        mark(patterns, whole);
        take_pieces(patterns, stream, ranks, comm);
    } else {
        char *text = NULL;
        size_t length = 0;
        FILE *memory = iso_memory_open(&text, &length);
        write_pieces(patterns, recording, memory, rank, ranks, whole);
        iso_memory_close(memory);
        iso_send_bytes(text, (long)length, 0, comm);
        iso_send_bytes(whole, patterns->used, 0, comm);
        free(text);
    }
    free(whole);
}
