/* SPDX-License-Identifier: BSD-3-Clause */
#include "experiments/app/launches.h"

#include "base/check.h"
#include "experiments/app/background.h"
#include "experiments/app/edges.h"
#include "experiments/app/events.h"
#include "experiments/app/results.h"
#include "experiments/app/stores.h"
#include "machine/heartbeat.h"
#include "messages/idle.h"
#include "sampling/coordinator.h"

#include <math.h>

enum { TAG_AWAKE = 8601, TAG_START, TAG_DONE, TAG_OVER };

/** Seconds from "all awake" to the start: longer than one sleep of idle.h. */
static const double LEAD = 3e-3, LEAD_OF_RANK = 10e-6;

typedef struct task {
    int launch; /**< REFRESH: compare clocks */
} task_t;

enum { REFRESH = -1 };

typedef struct state {
    const iso_context_t *ctx;
    const iso_program_t *program;
    const iso_role_t *roles;
    iso_executor_t *executor;
    iso_sync_t *sync;
    iso_background_t background;
    iso_coordinator_t coordinator;
    bool *edges_known; /**< by application */
    /* At rank 0: */
    int *const *members;       /**< ranks of each application in the job */
    iso_app_result_t *results; /**< by application */
} state_t;

static bool takes_part(const state_t *s, int rank, int launch)
{
    int app = s->roles[rank].app;
    return app >= 0 && iso_launch_has(&s->program->launches[launch], app);
}

static void wait_for_all(const state_t *s, int launch, int tag)
{
    for (int r = 1; r < s->ctx->size; r++) {
        if (takes_part(s, r, launch)) {
            iso_await(s->ctx, MPI_ANY_SOURCE, tag); /* in any order */
        }
    }
}

static void tell_all(const state_t *s, int launch, int tag, double value)
{
    for (int r = 1; r < s->ctx->size; r++) {
        if (takes_part(s, r, launch)) {
            MPI_CHECK(MPI_Send(&value, 1, MPI_DOUBLE, r, tag, s->ctx->control));
        }
    }
}

/** At ranks other than 0: send to rank 0 and sleep until it answers.
 */
static double say_and_nap(const state_t *s, int said, int answer)
{
    double value = 0;
    iso_signal(s->ctx, 0, said);
    iso_idle_recv(s->ctx, &value, 1, MPI_DOUBLE, 0, answer);
    return value;
}

/** Agree on the moment when all start, on the global clock. */
static double agree_on_start(const state_t *s, int launch)
{
    if (s->ctx->rank != 0) {
        return say_and_nap(s, TAG_AWAKE, TAG_START);
    }
    wait_for_all(s, launch, TAG_AWAKE);
    double start = iso_sync_global(s->sync, iso_sync_now(s->sync)) + LEAD +
                   LEAD_OF_RANK * s->ctx->size;
    tell_all(s, launch, TAG_START, start);
    return start;
}

/** Whether a launch is the first of an application alone, or of all. */
static bool is_watched(const iso_program_t *program, int launch, int app)
{
    int count = program->launches[launch].count;
    if (count > 1 && count < program->app_count) {
        return false;
    }
    for (int k = 0; k < launch; k++) {
        if (program->launches[k].count == count &&
            iso_launch_has(&program->launches[k], app)) {
            return false;
        }
    }
    return true;
}

/** Whether to write the totals now: all iterations are done, or it does not run
 * any more. */
static bool edges_are_due(const state_t *s, int launch, int app,
                          long iterations)
{
    const iso_program_t *program = s->program;
    bool last = true;
    for (int k = launch + 1; k < program->launch_count; k++) {
        last = last && !iso_launch_has(&program->launches[k], app);
    }
    return !s->edges_known[app] &&
           (last || iterations >= program->apps[app].iterations);
}

static void play(state_t *s, int launch)
{
    iso_executor_t *executor = s->executor;
    long iterations = executor->own->iterations;
    bool watched = is_watched(s->program, launch, executor->app);
    executor->timeline.iteration = watched ? iterations / 2 : -1;
    double now = iso_now();
    iso_executor_begin(executor, now);
    if (iso_background_repeats(s->program, launch, executor->app)) {
        now = iso_background_execute(&s->background, launch, executor, now);
    } else {
        for (long k = 0; k < iterations; k++) {
            now = iso_execute(executor, k, now);
        }
    }
    iso_executor_end(executor, now);
    if (!executor->own->background) {
        iso_background_tell(&s->background, launch);
    }
    iso_stores_settle(executor);
}

/** Send the results, in the order in which rank 0 receives them. */
static void hand_in(state_t *s, int launch)
{
    iso_executor_t *executor = s->executor;
    bool at_rank_0 = s->ctx->rank == 0; /* which takes it where it is */
    iso_results_hand_in(executor, s->sync);
    if (at_rank_0) {
        return;
    }
    if (edges_are_due(s, launch, executor->app, executor->stats.iterations)) {
        iso_edges_hand_in(executor);
        s->edges_known[executor->app] = true;
    }
    if (executor->timeline.iteration >= 0) {
        iso_events_hand_in(executor, s->sync);
    }
}

/** Launch, at rank 0 and at a rank that takes part. */
static void run(state_t *s, int launch)
{
    bool plays = s->executor && iso_launch_has(&s->program->launches[launch],
                                               s->executor->app);
    double start = agree_on_start(s, launch);
    if (plays) {
        iso_sync_wait(s->sync, iso_sync_local(s->sync, start));
        play(s, launch);
    }
    if (s->ctx->rank == 0) {
        wait_for_all(s, launch, TAG_DONE);
        tell_all(s, launch, TAG_OVER, 0);
    } else {
        say_and_nap(s, TAG_DONE, TAG_OVER);
    }
    if (plays) {
        hand_in(s, launch);
    }
}

static void perform(void *self, const void *task, int from)
{
    state_t *s = self;
    int launch = ((const task_t *)task)->launch;
    if (launch == REFRESH) {
        iso_sync_refresh(s->sync);
    } else {
        run(s, launch);
    }
}

static void refresh(state_t *s)
{
    task_t task = {REFRESH};
    for (int r = 1; r < s->ctx->size; r++) {
        iso_coordinator_dispatch(&s->coordinator, r, &task);
    }
    iso_sync_refresh(s->sync);
    iso_heartbeat_clear();
    iso_sync_record(s->sync, s->ctx->record);
}

static void record_launch(const state_t *s, int launch)
{
    const iso_launch_t *what = &s->program->launches[launch];
    char *text = iso_numbers_text(what->together, what->count);
    ISO_RECORD(s->ctx->record, "launch", ("launch", launch),
               ("repeat", what->repeat), ("together", text));
    free(text);
}

/** At rank 0: collect and write the results of a launch. */
static void record_results(state_t *s, int launch)
{
    const iso_launch_t *what = &s->program->launches[launch];
    double begin = INFINITY;
    for (int k = 0; k < what->count; k++) {
        int app = what->together[k];
        s->results[app] =
            iso_results_get(s->ctx, &s->program->apps[app], s->members[app][0]);
        begin = fmin(begin, s->results[app].begin);
    }
    iso_results_record(s->ctx, s->program, launch, s->results);
    for (int k = 0; k < what->count; k++) {
        int app = what->together[k];
        long iterations = (long)s->results[app].ranks[ISO_RANK_ITERATIONS];
        if (edges_are_due(s, launch, app, iterations)) {
            iso_edges_record(s->ctx, s->program, app, s->executor,
                             s->members[app]);
            s->edges_known[app] = true;
        }
        if (is_watched(s->program, launch, app)) {
            iso_events_record(s->ctx, s->program, launch, app, s->executor,
                              s->sync, s->members[app], begin);
        }
        free(s->results[app].ranks);
        free(s->results[app].each);
    }
    iso_record_flush(s->ctx->record);
}

/** At rank 0: one launch, from dispatch to its records. */
static void conduct(state_t *s, int launch)
{
    task_t task = {launch};
    if (iso_sync_aged(s->sync)) {
        refresh(s);
    }
    for (int r = 1; r < s->ctx->size; r++) {
        if (takes_part(s, r, launch)) {
            iso_coordinator_dispatch(&s->coordinator, r, &task);
        }
    }
    run(s, launch);
    iso_heartbeat_clear();
    record_launch(s, launch);
    record_results(s, launch);
}

static iso_outcome_t conduct_all(state_t *s, double time_limit)
{
    const iso_context_t *ctx = s->ctx;
    int total = s->program->launch_count, done = 0;
    for (; done < total; done++) {
        if (time_limit > 0 && iso_now() - ctx->started > time_limit) {
            iso_record_warning(
                ctx->record, "cut-short",
                "time limit of %g s reached after %d of %d launches",
                time_limit, done, total);
            break;
        }
        conduct(s, done);
        iso_progress(ctx, done + 1, total, 0);
    }
    free(s->results);
    iso_coordinator_dismiss(&s->coordinator);
    return done == total ? ISO_COMPLETE : ISO_CUT_SHORT;
}

iso_outcome_t iso_launches_run(const iso_context_t *ctx,
                               const iso_program_t *program,
                               const iso_role_t *roles, int *const *members,
                               iso_executor_t *executor, double time_limit)
{
    iso_outcome_t outcome = ISO_COMPLETE;
    state_t s = {.ctx = ctx,
                 .program = program,
                 .roles = roles,
                 .members = members,
                 .executor = executor};
    s.coordinator = (iso_coordinator_t){ctx, sizeof(task_t), &s, perform};
    s.sync = iso_sync_create(ctx);
    s.edges_known = ISO_NEW(bool, program->app_count);
    if (ctx->rank == 0) {
        iso_sync_record(s.sync, ctx->record);
        s.results = ISO_NEW(iso_app_result_t, program->app_count);
    }
    iso_background_init(&s.background, ctx, program, members);
    if (executor) {
        iso_executor_rehearse(executor);
    }
    if (ctx->rank == 0) {
        outcome = conduct_all(&s, time_limit);
    } else {
        iso_coordinator_serve(&s.coordinator);
    }
    iso_background_free(&s.background);
    iso_sync_free(s.sync);
    free(s.edges_known);
    return outcome;
}
