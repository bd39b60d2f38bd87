/* SPDX-License-Identifier: BSD-3-Clause */
#include "io_recorder/io_writing.h"

#include "io_recorder/gathered.h"
#include "io_recorder/packed.h"
#include "recording/memory.h"
#include "recording/sending.h"

#include <inttypes.h>
#include <math.h>

/* --- patterns ------------------------------------------------------------ */

/* Calls whose pieces are the same at all ranks, up to one shift of all of them,
 * are one pattern. */

enum { ISO_MAX_PATTERNS = 2048 };

typedef struct {
    int file;
    bool write, whole; /**< whole: no piece is left out */
    int64_t bytes, pieces, calls;
    int64_t reference; /**< of the first call */
    /** The first call, as all ranks know it. */
    iso_open_id_t of;
    int sequence;
} iso_pattern_t;

typedef struct {
    iso_pattern_t *list;
    int used;
    int64_t left_out; /**< calls of none */
} iso_patterns_t;

enum { MAX_RECORDS = 1 << 21, LEAST_RECORDS = 1 << 12 };

/** An entry of the map: the pattern of calls of this hash. */
typedef struct iso_known {
    iso_key_t key; /**< hash, file and direction, bytes */
    int pattern;
} iso_known_t;

static void add_pattern(iso_patterns_t *patterns, int file,
                        const iso_gathered_call_t *call)
{
    patterns->list = iso_resized(patterns->list, (patterns->used + 1) *
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

/** Find the patterns; each call gets its number, or -1. At rank 0. */
static iso_patterns_t find_patterns(iso_gathered_t *all)
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
            found = iso_map_find(&known, call->hash, kind, call->bytes);
            if (found == NULL && patterns.used < ISO_MAX_PATTERNS) {
                found = iso_map_get(&known, call->hash, kind, call->bytes);
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
    ISO_RECORD(record, "piece", ("pattern", pattern), ("rank", rank),
               ("offset", base + run->offset), ("length", run->length),
               ("count", run->count), ("stride", run->stride));
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

static void mark(void *self, int rank, const void *list, size_t count)
{
    const char *whole = list;
    iso_patterns_t *patterns = self;
    for (size_t p = 0; p < count; p++) {
        patterns->list[p].whole = patterns->list[p].whole && whole[p];
    }
}

/**
 * Write the pieces of all patterns. Collective; patterns come from rank 0,
 * where those are marked that are not whole.
 */
static void patterns_pieces(iso_patterns_t *patterns,
                            const iso_io_recording_t *recording,
                            iso_output_t *output)
{
    char *text = NULL;
    size_t length = 0;
    PMPI_Bcast(&patterns->used, 1, MPI_INT, 0, output->comm);
    size_t count = patterns->used;
    size_t bytes = count * sizeof(*patterns->list);
    patterns->list = iso_resized(patterns->list, bytes);
    PMPI_Bcast(patterns->list, bytes, MPI_BYTE, 0, output->comm);
    char *whole = iso_zeroed(count);
    FILE *memory = iso_memory_open(&text, &length);
    write_pieces(patterns, recording, memory, output->rank, output->ranks,
                 whole);
    iso_memory_close(memory);
    iso_output_collect(output, text, length, whole, count, patterns, mark);
    free(text);
    free(whole);
}

/* --- the run file ----------------------------------------------------------
 */

/* --- files ---------------------------------------------------------------- */

static void write_hints(iso_record_t *record, const iso_opened_t *file)
{
    for (int k = 0; k < file->hint_count; k++) {
        const iso_hint_t *hint = &file->hints[k];
        iso_record_begin(record, "hint");
        ISO_MEMBERS(record, ("file", file->joined), ("key", hint->key));
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
        const iso_spent_t *count = &file->independent[write];
        if (count->calls == 0) {
            continue;
        }
        ISO_RECORD(record, "independent", ("file", file->joined),
                   ("op", write ? "write" : "read"), ("calls", count->calls),
                   ("bytes", count->bytes),
                   ("ranks", file->independent_ranks[write]),
                   ("seconds", count->seconds));
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
        ISO_MEMBERS(record, ("file", file->joined),
                    ("name", file->name ? file->name : ""));
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

/** Write what every rank spent on every file. Collective. */
static void write_times(const iso_io_recording_t *recording,
                        const iso_gathered_t *all, iso_output_t *output)
{
    iso_map_t numbered = iso_map(sizeof(iso_numbered_file_t));
    const iso_opened_t *file = NULL;
    while ((file = iso_map_next(&all->opened, file))) {
        iso_numbered_file_t *entry =
            iso_map_get(&numbered, file->key.a, file->key.b, 0);
        entry->number = file->joined;
    }
    iso_account_write(&recording->account, recording->files.list,
                      recording->files.used, &numbered, output);
    iso_map_free(&numbered);
}

/* --- calls ---------------------------------------------------------------- */

static void write_patterns(iso_record_t *record, const iso_patterns_t *patterns)
{
    for (int p = 0; p < patterns->used; p++) {
        const iso_pattern_t *pattern = &patterns->list[p];
        ISO_RECORD(record, "pattern", ("pattern", p), ("file", pattern->file),
                   ("op", pattern->write ? "write" : "read"),
                   ("bytes", pattern->bytes), ("pieces", pattern->pieces),
                   ("calls", pattern->calls), ("whole", pattern->whole));
    }
}

static void write_parts(iso_record_t *record, const iso_gathered_t *all,
                        const iso_gathered_call_t *call)
{
    iso_parts_t parts = iso_parts_of(call->slots, call->slot_count,
                                     call->offsets, call->seconds);
    if (all->messages_seen) {
        ISO_MEMBERS(record, ("offsets", parts.offsets),
                    ("counts", parts.counts), ("exchange", parts.exchange));
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
        ISO_MEMBERS(record, ("call", number++), ("pattern", call->pattern),
                    ("shift", call->reference - pattern->reference),
                    ("name", call->name), ("seconds", call->seconds),
                    ("late", call->latest - fmax(call->first, call->left)));
        if (call->parts_known) {
            write_parts(record, all, call);
        }
        iso_record_end(record);
    }
}

/* --- omissions ----------------------------------------------------- */

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
    int64_t without_parts = 0, blocking = 0, cut = 0;
    for (int k = 0; k < all->call_count; k++) {
        without_parts += all->calls[k].too_many;
        blocking += strncmp(all->calls[k].name, "MPI_File_i", 10) != 0;
    }
    for (int p = 0; p < patterns->used; p++) {
        cut += !patterns->list[p].whole;
    }
    warn(record, "calls-left-out", patterns->left_out + all->calls_left_out,
         "collective accesses not recorded: too many calls or patterns, or an "
         "unsupported kind of file view");
    warn(record, "pieces-left-out", cut,
         "patterns have too many pieces; some are omitted");
    warn(record, "parts-left-out", without_parts,
         "collective accesses had too many rounds; the times of their phases "
         "are omitted");
    if (blocking > 0 && !all->messages_seen) {
        iso_record_warning(
            record, "parts-unseen",
            "phases inside collective accesses not recorded: the MPI-IO is not "
            "ROMIO, or bypasses the MPI symbols");
    }
}

/* --- all ------------------------------------------------------------------ */

/** Bring the recordings of all ranks together at rank 0. */
static iso_gathered_t gather(const iso_io_recording_t *recording,
                             iso_output_t *output)
{
    iso_gathered_t all = iso_gathered();
    size_t length = 0;
    char *bytes = iso_pack(recording, &length);
    iso_output_collect(output, "", 0, bytes, length, &all, iso_gathered_take);
    free(bytes);
    iso_gathered_join(&all);
    return all;
}

/** From the first rank that begins to the last that ends, at rank 0. */
static double whole(const iso_io_recording_t *recording, MPI_Comm comm)
{
    double own[2] = {-recording->began, recording->ended}, all[2] = {0};
    PMPI_Reduce(own, all, 2, MPI_DOUBLE, MPI_MAX, 0, comm);
    return all[0] + all[1];
}

void iso_io_writing(const iso_io_recording_t *recording)
{
    iso_output_t output;
    iso_patterns_t patterns = {0};
    iso_output_begin(&output, recording->path, "io-recording",
                     "collective accesses to files, the slowest rank");
    iso_gathered_t all = gather(recording, &output);
    if (output.rank == 0) {
        patterns = find_patterns(&all);
        write_files(&output.record, &all, output.ranks);
    }
    write_times(recording, &all, &output);
    patterns_pieces(&patterns, recording, &output);
    if (output.rank == 0) {
        write_patterns(&output.record, &patterns);
        write_calls(&output.record, &all, &patterns);
        write_warnings(&output.record, &all, &patterns);
    }
    iso_output_end(&output, whole(recording, output.comm), true);
    free(patterns.list);
    iso_gathered_free(&all);
}
