/* SPDX-License-Identifier: BSD-3-Clause */
#include "io_recorder/io_writing.h"

#include "io_recorder/gathered.h"
#include "io_recorder/packed.h"
#include "io_recorder/patterns.h"
#include "recording/memory.h"
#include "recording/output.h"
#include "recording/sending.h"

#include <inttypes.h>

static const char *quantity(void)
{
    return "collective accesses to files, the slowest rank";
}

static const iso_option_t *const no_options[] = {NULL};

static const iso_experiment_t experiment = {
    .name = "io-recording",
    .kind = "io-recording",
    .options = no_options,
    .quantity = quantity,
};

/* --- files ---------------------------------------------------------------- */

static void write_hints(iso_record_t *record, const iso_opened_t *file)
{
    for (int k = 0; k < file->hint_count; k++) {
        const iso_hint_t *hint = &file->hints[k];
        iso_record_begin(record, "hint");
        iso_record_int(record, "file", file->joined);
        iso_record_text(record, "key", hint->key);
        if (hint->value) {
            iso_record_text(record, "value", hint->value);
        }
        if (hint->given) {
            iso_record_text(record, "given", hint->given);
        }
        iso_record_end(record);
    }
}

static void write_independent(iso_record_t *record, const iso_opened_t *file)
{
    for (int write = 1; write >= 0; write--) {
        const iso_count_t *count = &file->independent[write];
        if (count->calls == 0) {
            continue;
        }
        iso_record_begin(record, "independent");
        iso_record_int(record, "file", file->joined);
        iso_record_text(record, "op", write ? "write" : "read");
        iso_record_int(record, "calls", (long)count->calls);
        iso_record_int(record, "bytes", (long)count->bytes);
        iso_record_int(record, "ranks", file->independent_ranks[write]);
        iso_record_double(record, "seconds", count->seconds);
        iso_record_end(record);
    }
}

static void write_files(iso_record_t *record, const iso_gathered_t *all,
                        int ranks)
{
    const iso_opened_t *file = NULL;
    while ((file = iso_map_next(&all->opened, file))) {
        if (file->opens == 0) {
            continue;
        }
        iso_record_begin(record, "file");
        iso_record_int(record, "file", file->joined);
        iso_record_text(record, "name", file->name ? file->name : "");
        if (file->filesystem && file->filesystem[0]) {
            iso_record_text(record, "filesystem", file->filesystem);
        }
        if (file->rank_count != ranks) {
            char *text = iso_output_ranks(file->ranks, file->rank_count);
            iso_record_text(record, "ranks", text);
            free(text);
        }
        iso_record_int(record, "opens", file->opens);
        iso_record_end(record);
        write_hints(record, file);
        write_independent(record, file);
    }
}

/* --- calls ---------------------------------------------------------------- */

static void write_patterns(iso_record_t *record, const iso_patterns_t *patterns)
{
    for (int p = 0; p < patterns->used; p++) {
        const iso_pattern_t *pattern = &patterns->list[p];
        iso_record_begin(record, "pattern");
        iso_record_int(record, "pattern", p);
        iso_record_int(record, "file", pattern->file);
        iso_record_text(record, "op", pattern->write ? "write" : "read");
        iso_record_int(record, "bytes", (long)pattern->bytes);
        iso_record_int(record, "pieces", (long)pattern->pieces);
        iso_record_int(record, "calls", (long)pattern->calls);
        iso_record_bool(record, "whole", pattern->whole);
        iso_record_end(record);
    }
}

static void write_parts(iso_record_t *record, const iso_gathered_t *all,
                        const iso_gathered_call_t *call)
{
    iso_parts_t parts =
        iso_parts_of(call->slots, call->slot_count, call->offsets, call->latest,
                     call->seconds);
    if (all->messages_seen) {
        iso_record_double(record, "offsets", parts.offsets);
        iso_record_double(record, "counts", parts.counts);
        iso_record_double(record, "exchange", parts.exchange);
        iso_record_double(record, "late", parts.late);
    }
    if (all->file_seen) {
        iso_record_double(record, "file", parts.file);
    }
    if (all->messages_seen) {
        iso_record_int(record, "rounds", call->rounds);
    }
}

static void write_calls(iso_record_t *record, const iso_gathered_t *all,
                        const iso_patterns_t *patterns)
{
    int number = 0;
    for (int k = 0; k < all->call_count; k++) {
        const iso_gathered_call_t *call = &all->calls[k];
        if (call->pattern < 0) {
            continue;
        }
        const iso_pattern_t *pattern = &patterns->list[call->pattern];
        iso_record_begin(record, "call");
        iso_record_int(record, "call", number++);
        iso_record_int(record, "pattern", call->pattern);
        iso_record_int(record, "shift",
                       (long)(call->reference - pattern->reference));
        iso_record_text(record, "name", call->name);
        iso_record_double(record, "seconds", call->seconds);
        if (call->parts_known) {
            write_parts(record, all, call);
        }
        iso_record_end(record);
    }
}

/* --- what is left out ----------------------------------------------------- */

static void warn(iso_record_t *record, const char *code, int64_t number,
                 const char *words)
{
    if (number > 0) {
        iso_record_warning(record, code, "%" PRId64 " %s", number, words);
    }
}

static void write_warnings(iso_record_t *record, const iso_gathered_t *all,
                           const iso_patterns_t *patterns)
{
    int64_t unknown = 0, without_parts = 0, cut = 0;
    const iso_opened_t *file = NULL;
    while ((file = iso_map_next(&all->opened, file))) {
        unknown += file->unknown[0].calls + file->unknown[1].calls;
    }
    for (int k = 0; k < all->call_count; k++) {
        without_parts += !all->calls[k].parts_known;
    }
    for (int p = 0; p < patterns->used; p++) {
        cut += !patterns->list[p].whole;
    }
    warn(record, "unknown-pattern", unknown,
         "collective accesses at a shared pointer (_ordered), or nonblocking "
         "ones: which bytes they access, and for how long, was not seen");
    warn(record, "calls-left-out", patterns->left_out + all->calls_left_out,
         "collective accesses are left out: there were too many, or too many "
         "patterns, or the file view is of a kind that is not known");
    warn(record, "pieces-left-out", cut,
         "patterns have too many pieces, of which some are left out");
    warn(record, "parts-left-out", without_parts,
         "collective accesses had too many rounds for the times of their parts "
         "to be kept");
    if (all->call_count > 0 && !all->messages_seen) {
        iso_record_warning(
            record, "parts-unseen",
            "what this MPI library does inside a collective access was not "
            "seen: it is not ROMIO, or calls itself directly");
    }
}

/* --- all ------------------------------------------------------------------ */

/** Bring the recordings of all ranks together at rank 0. */
static iso_gathered_t gather(const iso_io_recording_t *recording, int rank,
                             int ranks, MPI_Comm comm)
{
    iso_gathered_t all = iso_gathered();
    size_t length = 0;
    char *bytes = iso_pack(recording, &length);
    if (rank == 0) {
        iso_gathered_take(&all, 0, bytes);
        for (int r = 1; r < ranks; r++) {
            long received = 0;
            char *theirs = iso_receive_bytes(&received, r, comm);
            iso_gathered_take(&all, r, theirs);
            free(theirs);
        }
        iso_gathered_join(&all);
    } else {
        iso_send_bytes(bytes, (long)length, 0, comm);
    }
    free(bytes);
    return all;
}

void iso_io_writing(const iso_io_recording_t *recording)
{
    MPI_Comm comm = MPI_COMM_NULL;
    iso_output_t output = {0};
    iso_patterns_t patterns = {0};
    int rank = 0, ranks = 0;
    PMPI_Comm_dup(MPI_COMM_WORLD, &comm);
    PMPI_Comm_rank(comm, &rank);
    PMPI_Comm_size(comm, &ranks);
    if (rank == 0) {
        iso_output_open(&output, recording->path);
    }
    iso_output_begin(&output, &experiment, comm);
    iso_gathered_t all = gather(recording, rank, ranks, comm);
    if (rank == 0) {
        patterns = iso_patterns_find(&all);
        write_files(&output.record, &all, ranks);
    }
    iso_patterns_pieces(&patterns, recording, output.stream, comm);
    if (rank == 0) {
        write_patterns(&output.record, &patterns);
        write_calls(&output.record, &all, &patterns);
        write_warnings(&output.record, &all, &patterns);
        iso_output_end(&output, recording->ended - recording->began);
    }
    free(patterns.list);
    iso_gathered_free(&all);
    PMPI_Comm_free(&comm);
}
