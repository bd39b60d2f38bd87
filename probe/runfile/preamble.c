/* SPDX-License-Identifier: BSD-3-Clause */
#define _POSIX_C_SOURCE 200809L
#include "runfile/preamble.h"

#include "base/check.h"
#include "machine/settings.h"
#include "runfile/record.h"

#include <time.h>

/* --- settings and machine --------------------------------------------------
 */

/* What the run file says of the settings of the MPI library and of the machine
 * around rank 0, and which ranks have others. */

enum { MOST_NAMED = 4 };

/** Whether times are of this machine: not invented, not simulated. */
static bool iso_environment(const iso_context_t *ctx,
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

/** Write "settings", "memory" and "machine" as members of the header. At rank
 *  0, as all that follows. */
static void iso_environment_members(const iso_context_t *ctx)
{
    iso_record_t *record = ctx->record;
    iso_environment_t found = iso_environment_find(ctx->places[0].cpu);
    record_settings(record);
    iso_record_text(record, "memory", ctx->memory->text);
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
typedef struct {
    char text[512];
    int count;
} iso_named_t;

/** Names of the ranks, or hosts, whose @a what differs from rank 0. */
static iso_named_t name_others(const iso_context_t *ctx, int what, bool hosts)
{
    iso_named_t named = {0};
    size_t end = 0;
    bool *said = ISO_NEW(bool, ctx->ranks); /* of a node */
    for (int r = 1; r < ctx->ranks; r++) {
        const iso_place_t *place = &ctx->places[r];
        if (place->around[what] == ctx->places[0].around[what] ||
            (hosts && said[place->node])) {
            continue;
        }
        char rank[24];
        snprintf(rank, sizeof(rank), "rank %d", r);
        if (named.count++ < MOST_NAMED) {
            end +=
                snprintf(named.text + end, sizeof(named.text) - end, "%s%.60s",
                         end ? ", " : "", hosts ? place->host : rank);
        }
        said[place->node] = true;
    }
    free(said);
    if (named.count > MOST_NAMED) {
        snprintf(named.text + end, sizeof(named.text) - end, " and %d more",
                 named.count - MOST_NAMED);
    }
    return named;
}

/** Warn of ranks whose settings or nodes are not like those of rank 0. */
static void iso_environment_warnings(const iso_context_t *ctx)
{
    static const char *const words[ISO_ENVIRONMENT] = {
        [ISO_KERNEL] = "kernel",
        [ISO_PROCESSOR] = "model of processor",
        [ISO_GOVERNOR] = "frequency governor",
        [ISO_NUMA] = "number of NUMA nodes",
    };
    iso_named_t who = name_others(ctx, ISO_SETTINGS, false);
    if (who.count > 0) {
        iso_record_warning(ctx->record, "settings-differ",
                           "MPI settings in the environment differ between "
                           "ranks: different from rank 0 %s",
                           who.text);
    }
    for (int what = ISO_KERNEL; what < ISO_ENVIRONMENT; what++) {
        who = name_others(ctx, what, true);
        if (who.count > 0) {
            iso_record_warning(ctx->record, "nodes-differ",
                               "nodes differ: the %s of %.60s differs from %s",
                               words[what], ctx->places[0].host, who.text);
        }
    }
}

/* --- the header ------------------------------------------------------------
 */

static void record_library(iso_record_t *record, const iso_memory_t *memory)
{
    char text[MPI_MAX_LIBRARY_VERSION_STRING];
    int length = 0, major = 0, minor = 0;
    iso_record_enter(record, "mpi");
    MPI_CHECK(MPI_Get_library_version(text, &length));
    text[strcspn(text, "\r\n")] = '\0';
    iso_record_text(record, "library", text);
    MPI_CHECK(MPI_Get_version(&major, &minor));
    snprintf(text, sizeof(text), "%d.%d", major, minor);
    iso_record_text(record, "standard", text);
    if (memory->kinds[0].driver) {
        iso_record_enter(record, "gpu_aware");
        for (int k = 0; memory->kinds[k].driver; k++) {
            iso_record_text(record, memory->kinds[k].driver,
                            memory->kinds[k].aware);
        }
        iso_record_leave(record);
    }
    iso_record_leave(record);
}

static void record_clock(iso_record_t *record, const iso_clock_t *clock)
{
    iso_record_enter(record, "clock");
    ISO_MEMBERS(record, ("source", "MPI_Wtime"),
                ("granularity", clock->granularity), ("cost", clock->cost),
                ("simulated", clock->simulated));
    iso_record_leave(record);
}

/** Write "KEY=VALUE" as members. */
static void record_notes(iso_record_t *record, const char *const notes[],
                         int count)
{
    char key[256];
    iso_record_enter(record, "notes");
    for (int k = 0; k < count; k++) {
        size_t length = strcspn(notes[k], "=");
        snprintf(key, sizeof(key), "%.*s", (int)length, notes[k]);
        iso_record_text(record, key, notes[k] + length + 1);
    }
    iso_record_leave(record);
}

static void record_run(const iso_context_t *ctx,
                       const iso_experiment_t *experiment,
                       const char *const notes[], int note_count)
{
    iso_record_t *record = ctx->record;
    char text[32];
    time_t now = time(NULL);

    iso_record_begin(record, "run");
    ISO_MEMBERS(
        record,
        ("format", experiment->format ? experiment->format(ctx->ranks) : 1),
        ("experiment", experiment->name));
    if (experiment->kind) {
        iso_record_text(record, "kind", experiment->kind);
    }
    if (experiment->by) {
        iso_record_texts(record, "by", experiment->by);
    }
    if (experiment->invent) {
        iso_record_bool(record, "made_up", true);
    }
    strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", gmtime(&now));
    iso_record_text(record, "started", text);
    iso_record_enter(record, "options");
    for (int k = 0; experiment->options[k]; k++) {
        iso_record_options(record, experiment->options[k]);
    }
    iso_record_leave(record);
    record_library(record, ctx->memory);
    if (iso_environment(ctx, experiment)) {
        iso_environment_members(ctx);
    }
    record_clock(record, &ctx->clock);
    iso_record_text(record, "probe", ISO_VERSION);
    const char *quantity = experiment->quantity ? experiment->quantity()
                                                : experiment->quantity_text;
    if (quantity) {
        iso_record_text(record, "seconds_are", quantity);
    }
    record_notes(record, notes, note_count);
    iso_record_int(record, "ranks", ctx->ranks);
    iso_record_end(record);
}

/** The GPU of a rank, and its links to others by their PCI addresses. */
static void record_gpu(iso_record_t *record, const iso_gpu_t *gpu)
{
    ISO_MEMBERS(record, ("gpu", gpu->number), ("gpu_numa", gpu->numa));
    record_known(record, "gpu_pci", gpu->address);
    iso_record_enter(record, "gpu_links");
    for (int k = 0; k < gpu->links; k++) {
        iso_record_text(record, gpu->other[k].address, gpu->other[k].link);
    }
    iso_record_leave(record);
}

static void record_ranks(const iso_context_t *ctx)
{
    iso_record_t *record = ctx->record;
    for (int r = 0; r < ctx->ranks; r++) {
        const iso_place_t *place = &ctx->places[r];
        iso_record_begin(record, "rank");
        ISO_MEMBERS(record, ("rank", r), ("host", place->host),
                    ("cpu", place->cpu), ("core", place->core),
                    ("package", place->package), ("numa", place->numa),
                    ("l2", place->l2), ("l3", place->l3),
                    ("node", place->node));
        if (r == 0 || place->node != ctx->places[r - 1].node) {
            record_known(record, "processor", place->processor);
        }
        if (ctx->memory->gpus) {
            record_gpu(record, &ctx->memory->gpus[r]);
        }
        iso_record_end(record);
    }
}

/** Warn of what makes every sample of this run suspicious. */
static void record_warnings(const iso_context_t *ctx,
                            const iso_experiment_t *experiment)
{
    int threads = experiment->threads ? experiment->threads() : 0;
    if (ctx->clock.granularity > 1e-6) {
        iso_record_warning(
            ctx->record, "coarse-clock",
            "the clock has a resolution of %.3g us; short operations are "
            "timed in batches",
            1e6 * ctx->clock.granularity);
    }
    int allowed = ctx->clock.simulated ? 0 : iso_host_allowed();
    if (allowed > 0 && threads > allowed) {
        iso_record_warning(ctx->record, "threads-bound",
                           "%d threads of a rank may use %d processors; start "
                           "ranks that are not bound to cores",
                           threads, allowed);
    }
    int *on_node = ISO_NEW(int, ctx->ranks);
    for (int r = 0; r < ctx->ranks; r++) {
        on_node[ctx->places[r].node] += threads > 1 ? threads : 1;
    }
    for (int r = 0; r < ctx->ranks; r++) {
        const iso_place_t *place = &ctx->places[r];
        if (place->cpus > 0 && on_node[place->node] > place->cpus) {
            iso_record_warning(ctx->record, "oversubscribed",
                               "%d %s share %d processors of %.80s; times "
                               "are longer and noisier",
                               on_node[place->node],
                               threads > 1 ? "threads" : "ranks", place->cpus,
                               place->host);
            on_node[place->node] = 0; /* once a node */
        }
    }
    free(on_node);
    if (ctx->memory->staged) {
        iso_record_warning(
            ctx->record, "staged",
            "messages are copied between GPU and host memory outside of MPI, "
            "and the copies are part of the times: MPI is not known to be "
            "GPU-aware, or --staging always was given");
    }
}

void iso_preamble_write(const iso_context_t *ctx,
                        const iso_experiment_t *experiment,
                        const char *const notes[], int note_count)
{
    record_run(ctx, experiment, notes, note_count);
    record_ranks(ctx);
    record_warnings(ctx, experiment);
    if (iso_environment(ctx, experiment)) {
        iso_environment_warnings(ctx);
    }
    iso_record_flush(ctx->record);
}
