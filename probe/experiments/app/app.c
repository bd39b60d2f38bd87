/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file app.c
 * Runs the described applications: alone, in pairs, all together.
 *
 * The program file (program.h) says what each rank of each application
 * computes and sends in an iteration, and which applications run at the same
 * time. Ranks without a part in a launch sleep.
 */
#define _GNU_SOURCE /* getloadavg */
#include "base/check.h"
#include "experiment.h"
#include "experiments/app/launches.h"
#include "experiments/app/placement.h"
#include "global_clock/sync.h"
#include "machine/computation.h"
#include "machine/own_collectives.h"
#include "runfile/record.h"

/* --- loads ------------------------------------------------------------- */

/*
 * Detects other programs on the processors of the ranks.
 */

/** Loads below this count as idle. */
static const double QUIET = 0.5;

/**
 * Warn of each node whose load of the last minute leaves too few processors for
 * its ranks. Collective; to be called before the ranks have been busy.
 */
static void iso_loads_warn(const iso_context_t *ctx)
{
    double load = 0; /* if it is not known */
    if (ctx->clock.simulated) {
        return;
    }
    double *loads = ISO_NEW(double, ctx->size);
    int *ranks = ISO_NEW(int, ctx->size); /* by node */
    getloadavg(&load, 1);
    iso_plain_gather(ctx->control, &load, sizeof(load), loads);
    for (int r = 0; ctx->record && r < ctx->size; r++) {
        ranks[ctx->places[r].node]++;
    }
    for (int r = 0; ctx->record && r < ctx->size; r++) {
        const iso_place_t *place = &ctx->places[r];
        if (place->cpus > 0 && loads[r] > QUIET && ranks[place->node] > 0 &&
            loads[r] + ranks[place->node] > place->cpus + QUIET) {
            iso_record_warning(
                ctx->record, "load",
                "%.80s had a load of %.1f before the start; %d ranks "
                "share its %d processors with other programs",
                place->host, loads[r], ranks[place->node], place->cpus);
            ranks[place->node] = 0; /* once a node */
        }
    }
    free(loads);
    free(ranks);
}

/** How often a computation of how many seconds is tried at the start. */
enum { TRIALS = 51 };
static const double TRIED = 100e-6;

static struct {
    const char *program;
    double time_limit;
} options;

static const iso_option_t own_options[] = {
    {"program", ISO_OPTION_TEXT, "FILE", NULL,
     "the applications, as a file that isochrone emulate writes",
     &options.program},
    {"time-limit", ISO_OPTION_SECONDS, "TIME", "0",
     "start no further run after TIME; 0: no limit", &options.time_limit},
    {0},
};

static const iso_option_t *const all_options[] = {own_options, iso_sync_options,
                                                  NULL};

static int check(char *error)
{
    if (options.program == NULL) {
        return ISO_REFUSE(
            error, "--program FILE is missing (isochrone emulate writes it)");
    }
    return iso_sync_check(error);
}

static int check_ranks(int ranks, char *error)
{
    return iso_source_load(options.program, ranks, error);
}

static double memory(int ranks)
{
    return iso_source_memory();
}

/** Record how exactly the modes deliver the requested time, on rank 0. */
static void record_modes(const iso_context_t *ctx)
{
    for (int mode = 0; mode < ISO_MODES; mode++) {
        iso_delivery_t found =
            iso_compute_try((iso_compute_mode_t)mode, TRIED, TRIALS);
        ISO_RECORD(ctx->record, "computation", ("mode", iso_mode_names[mode]),
                   ("asked", found.requested), ("overhead", found.overhead),
                   ("median", found.median), ("p95", found.p95));
    }
}

static iso_outcome_t run(iso_context_t *ctx)
{
    iso_program_t program;
    iso_executor_t executor;
    iso_role_t *roles = NULL;
    int **members = NULL;
    MPI_Comm comm;
    iso_loads_warn(ctx);
    iso_compute_calibrate(ctx->clock.simulated);
    if (ctx->rank == 0) {
        roles = iso_placement_roles(ctx, iso_source_program());
        members = iso_placement_members(ctx, iso_source_program(), roles);
    }
    iso_source_check_nodes(ctx, members);
    if (ctx->rank == 0) {
        if (!ctx->clock.simulated) {
            record_modes(ctx);
        }
        iso_placement_record(ctx, iso_source_program(), roles, members);
    }
    iso_role_t role = iso_source_share(ctx, roles, &program);
    bool plays = role.app >= 0;
    iso_placement_bind(ctx, &program, role);
    MPI_CHECK(MPI_Comm_split(ctx->comm, plays ? role.app : MPI_UNDEFINED,
                             role.rank, &comm));
    if (plays) {
        iso_executor_init(&executor, ctx, &program, role.app, comm);
    }
    iso_outcome_t outcome =
        iso_launches_run(ctx, &program, roles, members,
                         plays ? &executor : NULL, options.time_limit);
    if (plays) {
        iso_executor_free(&executor);
    }
    iso_program_free(&program);
    iso_source_free();
    if (members) {
        free(members[0]);
    }
    free(members);
    free(roles);
    return outcome;
}

const iso_experiment_t iso_experiment_app = {
    .name = "app",
    .summary = "synthetic applications that a file describes",
    .kind = "emulation",
    .options = all_options,
    .min_ranks = 1,
    .check = check,
    .check_ranks = check_ranks,
    .memory = memory,
    .quantity_text = "wall time of an application, or of one of its iterations",
    .run = run,
};
