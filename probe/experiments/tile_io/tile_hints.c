/* SPDX-License-Identifier: BSD-3-Clause */
#include "experiments/tile_io/tile_hints.h"

#include "base/check.h"
#include "machine/own_collectives.h"
#include "runfile/record.h"

#include <limits.h>

enum { MAX_VALUE = 4096, LONG_LIST = 240 };

/** Value of a hint; false if the library does not report it. */
static bool get(MPI_Info info, const char *key, char *value)
{
    int there = 0, length = 0;
    MPI_CHECK(MPI_Info_get_valuelen(info, key, &length, &there));
    value[0] = '\0';
    if (there && length < MAX_VALUE) {
        MPI_CHECK(MPI_Info_get(info, key, length, value, &there));
    }
    return there;
}

/** Copy one hint. @return 0, or -1 with an error text */
static int set(char *hint, MPI_Info *info, char *error)
{
    char *equals = strchr(hint, '=');
    if (equals == NULL || equals == hint || equals[1] == '\0') {
        return ISO_REFUSE(
            error, "--hints: '%.80s' is not KEY=VALUE, such as cb_nodes=4",
            hint);
    }
    *equals = '\0';
    if (strlen(hint) >= MPI_MAX_INFO_KEY ||
        strlen(equals + 1) >= MPI_MAX_INFO_VAL) {
        return ISO_REFUSE(
            error,
            "--hints: %.60s is too long: this MPI takes values below %d "
            "characters",
            hint, MPI_MAX_INFO_VAL);
    }
    if (info) {
        MPI_CHECK(MPI_Info_set(*info, hint, equals + 1));
    }
    return 0;
}

int iso_hints_parse(const char *text, MPI_Info *info, char *error)
{
    char *copy = iso_calloc(strlen(text) + 1, 1), *hint = copy;
    int wrong = 0;
    strcpy(copy, text);
    while (hint && !wrong) {
        char *next = strchr(hint, ',');
        while (next) { /* up to the comma before the next "key=" */
            size_t word = strcspn(next + 1, ",=");
            if (next[1 + word] == '=') {
                *next++ = '\0';
                break;
            }
            next = strchr(next + 1, ',');
        }
        wrong = set(hint, info, error);
        hint = next;
    }
    free(copy);
    return wrong;
}

/** Warn if these hints imply independent accesses. */
static void warn_of_independence(const iso_context_t *ctx,
                                 const iso_tiling_t *tiling, MPI_Info used,
                                 const char *operation)
{
    char key[MPI_MAX_INFO_KEY], value[MAX_VALUE];
    snprintf(key, sizeof(key), "romio_cb_%s", operation);
    if (!get(used, key, value)) {
        return;
    }
    if (strcmp(value, "disable") == 0) {
        iso_record_warning(ctx->record, "not-collective",
                           "not accessed collectively: %.40s is 'disable', so "
                           "every rank accessed the file independently",
                           key);
    } else if (strcmp(value, "automatic") == 0 &&
               !iso_tiling_interleaved(tiling)) {
        iso_record_warning(
            ctx->record, "not-collective",
            "not accessed collectively: %.40s is 'automatic' and tiles do not "
            "interleave; give --hints %.40s=enable",
            key, key);
    }
}

/** Warn of requested hints that differ from the library's report. */
static void warn_of_ignored(const iso_context_t *ctx, MPI_Info used,
                            MPI_Info requested)
{
    int count = 0, there = 0;
    char key[MPI_MAX_INFO_KEY + 1];
    char wanted[MAX_VALUE], found[MAX_VALUE];
    if (requested == MPI_INFO_NULL) {
        return;
    }
    MPI_CHECK(MPI_Info_get_nkeys(requested, &count));
    for (int k = 0; k < count; k++) {
        MPI_CHECK(MPI_Info_get_nthkey(requested, k, key));
        get(requested, key, wanted);
        there = get(used, key, found);
        if (!there || strcmp(wanted, found) != 0) {
            iso_record_warning(
                ctx->record, "hint-not-taken",
                "hint %.60s=%.80s ignored: the library reports %s%.80s", key,
                wanted, there ? "" : "no such hint", found);
        }
    }
}

void iso_hints_record(const iso_context_t *ctx, const iso_tiling_t *tiling,
                      MPI_Info used, MPI_Info requested, int writers)
{
    int count = 0;
    char key[MPI_MAX_INFO_KEY + 1], value[MAX_VALUE];
    MPI_CHECK(MPI_Info_get_nkeys(used, &count));
    for (int k = 0; k < count; k++) {
        MPI_CHECK(MPI_Info_get_nthkey(used, k, key));
        get(used, key, value);
        ISO_RECORD(ctx->record, "hint", ("key", key), ("value", value));
    }
    if (!get(used, "romio_cb_write", value)) {
        iso_record_warning(
            ctx->record, "aggregators-unknown",
            "this MPI-IO (OMPIO?) reports no aggregators and no collective "
            "access; ROMIO hints such as cb_config_list have no effect");
        if (writers == ctx->size && writers > 1) {
            iso_record_warning(ctx->record, "not-collective",
                               "every rank wrote to the file independently");
        }
    }
    warn_of_independence(ctx, tiling, used, "write");
    warn_of_independence(ctx, tiling, used, "read");
    warn_of_ignored(ctx, used, requested);
}

int *iso_hints_aggregators(const iso_context_t *ctx, MPI_Info used, int *count)
{
    int *ranks = ISO_NEW(int, ctx->size);
    char value[MAX_VALUE];
    *count = 0;
    if (ctx->rank == 0 && get(used, "romio_aggregator_list", value)) {
        char *rest = value, *end = value;
        for (;;) {
            long rank = strtol(rest, &end, 10);
            /* A number at the very end of a long list may be cut off. */
            bool whole = *end == ' ' || end - value < LONG_LIST;
            if (end == rest || !whole || rank < 0 || rank >= ctx->size ||
                *count == ctx->size) {
                break;
            }
            ranks[(*count)++] = (int)rank;
            rest = end;
        }
    }
    iso_plain_bcast(ctx->control, count, 1, MPI_INT);
    iso_plain_bcast(ctx->control, ranks, *count, MPI_INT);
    if (*count == 0) {
        free(ranks);
        ranks = NULL;
    }
    return ranks;
}

long long iso_hints_number(const iso_context_t *ctx, MPI_Info used,
                           const char *key, long long otherwise)
{
    char value[MAX_VALUE];
    long long number = otherwise;
    if (ctx->rank == 0 && get(used, key, value)) {
        long long found = strtoll(value, NULL, 10);
        number = found > 0 && found <= INT_MAX ? found : otherwise;
    }
    iso_plain_bcast(ctx->control, &number, 1, MPI_LONG_LONG);
    return number;
}
