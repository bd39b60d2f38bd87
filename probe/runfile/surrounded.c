/* SPDX-License-Identifier: BSD-3-Clause */
#include "runfile/surrounded.h"

#include "base/check.h"
#include "machine/settings.h"
#include "runfile/record.h"

#include <string.h>

enum { MOST_NAMED = 4 };

bool iso_surrounded(const iso_context_t *ctx,
                    const iso_experiment_t *experiment)
{
    return experiment->invent == NULL && !ctx->clock.simulated;
}

static void record_settings(iso_record_t *record)
{
    char value[ISO_SETTING_LONGEST + 64];
    const char *secret[ISO_SETTINGS_MOST + 1] = {0};
    char names[ISO_SETTINGS_MOST][132];
    int secrets = 0;
    iso_settings_t settings;
    iso_settings_find(&settings);
    iso_record_enter(record, "settings");
    for (int k = 0; k < settings.count; k++) {
        const iso_setting_t *one = &settings.one[k];
        char *name = names[secrets]; /* free until it is one of a secret */
        snprintf(name, sizeof(names[0]), "%.*s", (int)one->name, one->text);
        if (one->secret) {
            secret[secrets++] = name;
        } else {
            iso_setting_value(one, value);
            iso_record_text(record, name, value);
        }
    }
    iso_record_leave(record);
    if (secrets > 0) {
        iso_record_texts(record, "settings_left_out", secret);
    }
    if (settings.more > 0) {
        iso_record_int(record, "settings_more", settings.more);
    }
}

static void record_known(iso_record_t *record, const char *key,
                         const char *text)
{
    if (text[0]) {
        iso_record_text(record, key, text);
    }
}

void iso_surrounded_members(const iso_context_t *ctx)
{
    iso_record_t *record = ctx->record;
    iso_surroundings_t found = iso_surroundings_find(ctx->places[0].cpu);
    record_settings(record);
    iso_record_text(record, "memory", "host");
    iso_record_enter(record, "machine");
    record_known(record, "kernel", found.kernel);
    record_known(record, "processor", found.processor);
    record_known(record, "governor", found.governor);
    if (found.numa > 0) {
        iso_record_int(record, "numa", found.numa);
    }
    iso_record_leave(record);
}

/** Names for a person: "n3, n5 and 2 more". */
typedef struct iso_named {
    char text[512];
    int count;
} iso_named_t;

static void name_one(iso_named_t *named, const char *name)
{
    size_t end = strlen(named->text);
    if (named->count++ < MOST_NAMED) {
        snprintf(named->text + end, sizeof(named->text) - end, "%s%.60s",
                 end ? ", " : "", name);
    }
}

/** Name the ranks, or the hosts, whose @a what is not that of rank 0. */
static iso_named_t name_others(const iso_context_t *ctx, int what, bool hosts)
{
    iso_named_t named = {0};
    bool *said = iso_calloc((size_t)ctx->ranks, sizeof(bool)); /* of a node */
    for (int r = 1; r < ctx->ranks; r++) {
        const iso_place_t *place = &ctx->places[r];
        if (place->around[what] == ctx->places[0].around[what] ||
            (hosts && said[place->node])) {
            continue;
        }
        char rank[24];
        snprintf(rank, sizeof(rank), "rank %d", r);
        name_one(&named, hosts ? place->host : rank);
        said[place->node] = true;
    }
    free(said);
    size_t end = strlen(named.text);
    if (named.count > MOST_NAMED) {
        snprintf(named.text + end, sizeof(named.text) - end, " and %d more",
                 named.count - MOST_NAMED);
    }
    return named;
}

void iso_surrounded_warnings(const iso_context_t *ctx)
{
    static const char *const words[ISO_SURROUNDINGS] = {
        [ISO_KERNEL] = "kernel",
        [ISO_PROCESSOR] = "model of processor",
        [ISO_GOVERNOR] = "frequency governor",
        [ISO_NUMA] = "number of NUMA nodes",
    };
    iso_named_t who = name_others(ctx, ISO_SETTINGS, false);
    if (who.count > 0) {
        iso_record_warning(
            ctx->record, "settings-differ",
            "the environment does not set the MPI library of all ranks "
            "alike: otherwise than rank 0 %s",
            who.text);
    }
    for (int what = ISO_KERNEL; what < ISO_SURROUNDINGS; what++) {
        who = name_others(ctx, what, true);
        if (who.count > 0) {
            iso_record_warning(
                ctx->record, "nodes-differ",
                "nodes are not alike: another %s than %.60s has %s",
                words[what], ctx->places[0].host, who.text);
        }
    }
}
