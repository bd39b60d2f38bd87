/* SPDX-License-Identifier: BSD-3-Clause */
#include "io_recorder/account.h"

#include "io_recorder/open_files.h"
#include "recording/memory.h"
#include "recording/sending.h"

#include <math.h>

static const char *const names[ISO_CALLS] = {"open",
                                             "close",
                                             "set-view",
                                             "set-size",
                                             "sync",
                                             "collective",
                                             "nonblocking-collective",
                                             "ordered",
                                             "independent",
                                             "nonblocking",
                                             "shared"};

/** How all ranks entered a collective call. */
typedef struct {
    iso_key_t key; /**< leader and number of the file, sequence */
    double latest, sum, access;
    double left; /**< that rank, the call before */
    int before, last, ranks;
} iso_entry_t;

/** A file of this rank, in the run file; there is one of several that were
 *  opened after each other with the same name. */
typedef struct {
    iso_key_t key; /**< number of the file, call, direction */
    iso_spent_t spent;
} iso_row_t;

void iso_account_add(iso_account_t *account, const iso_timed_t *timed)
{
    if (account->used < ISO_MAX_TIMED) {
        ISO_GROW(account->timed, account->used, account->room);
        account->timed[account->used++] = *timed;
    }
}

/* --- all ranks ------------------------------------------------------------ */

static void take(void *self, int rank, const void *list, size_t bytes)
{
    iso_map_t *entries = self;
    const iso_timed_t *timed = list;
    for (size_t k = 0; k < bytes / sizeof(*timed); k++, timed++) {
        iso_entry_t *entry = iso_map_get(entries, timed->file.leader,
                                         timed->file.number, timed->sequence);
        entry->access = fmax(entry->access, timed->access);
        if (!timed->enters) {
            continue;
        }
        if (entry->ranks++ == 0 || timed->begin > entry->latest) {
            entry->latest = timed->begin;
            entry->last = rank;
            entry->left = timed->left;
            entry->before = timed->before;
        }
        entry->sum += timed->begin;
    }
}

/** Copy the entries of a map of rank 0 to all. */
static iso_map_t everywhere(const iso_map_t *map, MPI_Comm comm)
{
    enum { CHUNK = 1 << 28 };
    iso_map_t all = iso_map(map->size);
    unsigned long bytes = map->used * map->size;
    PMPI_Bcast(&bytes, 1, MPI_UNSIGNED_LONG, 0, comm);
    char *list = iso_zeroed(bytes);
    if (map->used > 0) { /* at rank 0 */
        memcpy(list, map->entries, bytes);
    }
    for (size_t done = 0; done < bytes; done += CHUNK) {
        size_t part = bytes - done < CHUNK ? bytes - done : CHUNK;
        PMPI_Bcast(list + done, (int)part, MPI_BYTE, 0, comm);
    }
    for (size_t at = 0; at < bytes; at += map->size) {
        iso_key_t key;
        memcpy(&key, list + at, sizeof(key));
        iso_key_t *entry = iso_map_get(&all, key.a, key.b, key.c);
        memcpy(entry + 1, list + at + sizeof(key), map->size - sizeof(key));
    }
    free(list);
    return all;
}

/** Return the entries of all ranks into all collective calls. */
static iso_map_t entries_of(const iso_account_t *account, iso_output_t *output)
{
    iso_map_t found = iso_map(sizeof(iso_entry_t));
    iso_output_collect(output, "", 0, account->timed,
                       account->used * sizeof(*account->timed), &found, take);
    iso_map_t all = everywhere(&found, output->comm);
    iso_map_free(&found);
    return all;
}

/* --- this rank ------------------------------------------------------------ */

void iso_spent_add(iso_spent_t *sum, const iso_spent_t *more)
{
    sum->calls += more->calls;
    sum->bytes += more->bytes;
    sum->pieces += more->pieces;
    sum->span += more->span;
    sum->empty += more->empty;
    sum->seconds += more->seconds;
    sum->waiting += more->waiting;
    sum->access += more->access;
    sum->last += more->last;
    sum->late += more->late;
}

/** What this rank waited in a call, and accessed or saw others access; and
 *  waited for a rank that was @a busy with the call before. */
static iso_spent_t divided(const iso_timed_t *timed, const iso_entry_t *entry,
                           int rank, double *busy)
{
    iso_spent_t spent = {0};
    *busy = 0;
    double behind = entry->latest - timed->begin;
    if (timed->seconds >= behind) { /* it did not leave before */
        spent.waiting =
            fmin(fmax(behind, 0), fmax(0, timed->seconds - timed->access));
        *busy = fmax(0, fmin(entry->left - timed->begin, spent.waiting));
        spent.waiting -= *busy;
    }
    spent.access = fmin(timed->seconds - spent.waiting - *busy, entry->access);
    if (timed->enters && entry->last == rank && entry->ranks > 1) {
        double others = (entry->sum - entry->latest) / (entry->ranks - 1);
        spent.late = entry->latest - fmax(others, entry->left);
        spent.last = spent.late > 0;
    }
    return spent;
}

static void write_row(iso_record_t *record, int rank, const iso_row_t *row)
{
    const iso_spent_t *spent = &row->spent;
    iso_record_begin(record, "time");
    ISO_MEMBERS(record, ("rank", rank), ("file", row->key.a),
                ("call", names[row->key.b]));
    if (row->key.b >= ISO_COLLECTIVE) {
        ISO_MEMBERS(record, ("op", row->key.c ? "write" : "read"),
                    ("bytes", spent->bytes), ("pieces", spent->pieces),
                    ("span", spent->span), ("empty", spent->empty));
    }
    ISO_MEMBERS(record, ("calls", spent->calls), ("seconds", spent->seconds),
                ("waiting", spent->waiting), ("access", spent->access),
                ("last", spent->last), ("late", spent->late));
    iso_record_end(record);
}

/** Add to what this rank spent on its files how that divides. */
static void divide(const iso_account_t *account, iso_open_file_t *files,
                   const iso_map_t *entries, int rank)
{
    for (int k = 0; k < account->used; k++) {
        const iso_timed_t *timed = &account->timed[k];
        const iso_entry_t *entry = iso_map_find(
            entries, timed->file.leader, timed->file.number, timed->sequence);
        double busy;
        iso_spent_t spent = divided(timed, entry, rank, &busy);
        iso_spent_t *into =
            &files[timed->index].spent[timed->call][timed->write];
        iso_spent_t *before =
            &files[timed->index].spent[entry->before / 2][entry->before % 2];
        iso_spent_add(into, &spent);
        if (before->calls > 0) {
            into->seconds -= busy;
            before->seconds += busy;
        }
    }
}

/** Write what was spent on the files; several may have the same number. */
static void write_rows(const iso_open_file_t *files, int count,
                       const iso_map_t *numbers, FILE *stream, int rank)
{
    iso_map_t rows = iso_map(sizeof(iso_row_t));
    iso_record_t record = {.stream = stream};
    for (int k = 0; k < count; k++) {
        iso_open_id_t file = files[k].id;
        const iso_numbered_file_t *found =
            iso_map_find(numbers, file.leader, file.number, 0);
        for (int kind = 0; found && kind < 2 * ISO_CALLS; kind++) {
            const iso_spent_t *spent = &files[k].spent[kind / 2][kind % 2];
            if (spent->calls > 0) {
                iso_row_t *row =
                    iso_map_get(&rows, found->number, kind / 2, kind % 2);
                iso_spent_add(&row->spent, spent);
            }
        }
    }
    for (iso_row_t *row = iso_map_next(&rows, NULL); row;
         row = iso_map_next(&rows, row)) {
        write_row(&record, rank, row);
    }
    iso_map_free(&rows);
}

static void ignore(void *self, int rank, const void *list, size_t bytes)
{
}

void iso_account_write(const iso_account_t *account, iso_open_file_t *files,
                       int count, const iso_map_t *numbered,
                       iso_output_t *output)
{
    char *text = NULL;
    size_t length = 0;
    iso_map_t entries = entries_of(account, output);
    iso_map_t numbers = everywhere(numbered, output->comm);
    divide(account, files, &entries, output->rank);
    FILE *memory = iso_memory_open(&text, &length);
    write_rows(files, count, &numbers, memory, output->rank);
    iso_memory_close(memory);
    iso_output_collect(output, text, length, "", 0, NULL, ignore);
    free(text);
    iso_map_free(&entries);
    iso_map_free(&numbers);
}
