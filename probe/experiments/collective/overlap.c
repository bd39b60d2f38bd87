/* SPDX-License-Identifier: BSD-3-Clause */
#define _POSIX_C_SOURCE 200809L
#include "experiments/collective/overlap.h"

#include "base/check.h"
#include "base/order.h"
#include "machine/computation.h"
#include "machine/own_collectives.h"
#include "messages/forms.h"

#include <math.h>
#include <mpi.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>

/* --- progress thread --------------------------------------------------- */

/*
 * A thread that lets an operation progress while the rank computes: it calls
 * MPI_Test all the time until the operation is complete. It needs
 * MPI_THREAD_MULTIPLE, and shares the processors of the rank; between
 * operations it sleeps.
 */

static struct {
    pthread_t thread;
    sem_t taken, released;
    const iso_call_t *call; /**< NULL: the thread is to end */
    atomic_bool stopped;
} state;

static void await(sem_t *semaphore)
{
    while (sem_wait(semaphore) != 0) {
        /* interrupted by a signal */
    }
}

static void *serve(void *unused)
{
    for (await(&state.taken); state.call; await(&state.taken)) {
        int complete = 0;
        while (!complete && !atomic_load(&state.stopped)) {
            complete = iso_form_test(state.call);
        }
        sem_post(&state.released);
    }
    return unused;
}

static void iso_progress_thread_begin(void)
{
    sem_init(&state.taken, 0, 0);
    sem_init(&state.released, 0, 0);
    if (pthread_create(&state.thread, NULL, serve, NULL) != 0) {
        ISO_FAIL("--progress thread: the system allows no more threads");
    }
}

/** Let it test a call, whose requests the rank leaves alone until the release.
 */
static void iso_progress_thread_take(const iso_call_t *call)
{
    state.call = call;
    atomic_store(&state.stopped, false);
    sem_post(&state.taken);
}

/** Return when the thread does not use the request any more. */
static void iso_progress_thread_release(void)
{
    atomic_store(&state.stopped, true);
    await(&state.released);
}

static void iso_progress_thread_end(void)
{
    state.call = NULL;
    sem_post(&state.taken);
    pthread_join(state.thread, NULL);
    sem_destroy(&state.taken);
    sem_destroy(&state.released);
}

enum { TIMES = sizeof(iso_hidden_t) / sizeof(double) };

static struct {
    const char *progress;
    long tests;
} options;

const iso_option_t iso_overlap_options[] = {
    {"progress", ISO_OPTION_CHOICE, "none|test|thread", "none",
     "--form nonblocking, persistent: what lets the operation progress while "
     "the ranks compute: nothing (none), calls of MPI_Test in between (test), "
     "or a thread that calls MPI_Test (thread)",
     &options.progress},
    {"test-calls", ISO_OPTION_COUNT | ISO_EXPERT, "N", "10",
     "--progress test: calls of MPI_Test in a computation", &options.tests},
    {0},
};

static bool progress_by(const char *who)
{
    return strcmp(options.progress, who) == 0;
}

int iso_overlap_check(char *error)
{
    return progress_by("thread") && iso_in_simulator()
               ? ISO_REFUSE(error, "--progress thread: a simulated rank has no "
                                   "threads (use none or test)")
               : 0;
}

int iso_overlap_threads(void)
{
    return progress_by("thread") ? 2 : 0;
}

void iso_overlap_begin(iso_overlap_t *overlap, const iso_context_t *ctx)
{
    *overlap = (iso_overlap_t){.ctx = ctx, .thread = progress_by("thread")};
    iso_compute_calibrate(ctx->clock.simulated);
    if (overlap->thread) {
        iso_progress_thread_begin();
    }
}

void iso_overlap_end(iso_overlap_t *overlap)
{
    if (overlap->thread) {
        iso_progress_thread_end();
    }
    free(overlap->samples);
}

/** Compute, with calls of MPI_Test between equal parts until the operation is
 *  complete. @return seconds without those */
static double compute(const iso_overlap_t *overlap, const iso_call_t *call)
{
    bool tests = progress_by("test");
    long calls = tests ? options.tests : 0;
    double part = overlap->compute / (double)(calls + 1), done = 0;
    int complete = !tests;
    for (long k = 0; k <= calls; k++) {
        done += iso_compute(ISO_MODE_CPU, part, overlap->ctx->clock.simulated);
        if (!complete && k < calls) {
            complete = iso_form_test(call);
        }
    }
    return done;
}

static void overlapped(const iso_call_t *call)
{
    iso_overlap_t *overlap = call->overlap;
    iso_hidden_t *sample =
        &overlap->samples[overlap->operations++ / overlap->batch];
    double begin = iso_now();
    call->begin(call);
    double posted = iso_now();
    if (overlap->thread) {
        iso_progress_thread_take(call);
    }
    sample->compute += compute(overlap, call);
    double computed = iso_now();
    if (overlap->thread) {
        iso_progress_thread_release();
    }
    iso_form_wait(call);
    sample->complete += iso_now() - computed;
    sample->post += posted - begin;
}

/** The median of the pure times of the slowest rank; those are negative where a
 *  sample is void. */
static double calibrated(const iso_context_t *ctx, const double *pure,
                         long long samples)
{
    double *slowest = ISO_NEW(double, samples);
    memcpy(slowest, pure, samples * sizeof(double));
    iso_plain_reduce(ctx->control, slowest, samples, MPI_DOUBLE, MPI_MAX);
    iso_sort(slowest, samples);
    double median = fmax(0, slowest[samples / 2]);
    iso_plain_bcast(ctx->control, &median, 1, MPI_DOUBLE);
    free(slowest);
    return median;
}

void iso_overlap_run(iso_overlap_t *overlap, const iso_start_t *start,
                     const iso_task_t *task, const iso_work_t *work,
                     double *seconds)
{
    const iso_context_t *ctx = overlap->ctx;
    size_t bytes = task->samples * sizeof(iso_hidden_t);
    double *overall = ISO_NEW(double, task->samples);
    overlap->samples = memset(iso_resized(overlap->samples, bytes), 0, bytes);
    overlap->compute = calibrated(ctx, seconds, task->samples);
    overlap->operations = 0;
    overlap->batch = task->batch;
    iso_work_t beside = *work;
    iso_start_t longer = *start;
    beside.operate = overlapped;
    beside.calls[0].overlap = overlap;
    longer.distance *= 2; /* what is computed takes as long as the operation */
    iso_start_run(&longer, task, &beside, overall);
    for (long long k = 0; k < task->samples; k++) {
        iso_hidden_t *sample = &overlap->samples[k];
        sample->overall = overall[k];
        sample->compute /= task->batch;
        sample->post /= task->batch;
        sample->complete /= task->batch;
        seconds[k] = overall[k] < 0 ? -1 : seconds[k];
    }
    iso_plain_reduce(ctx->control, overlap->samples, TIMES * task->samples,
                     MPI_DOUBLE, MPI_MAX);
    free(overall);
}

void iso_overlap_record(const iso_overlap_t *overlap, iso_record_t *record,
                        long sample)
{
    const iso_hidden_t *of = &overlap->samples[sample];
    ISO_MEMBERS(record, ("overall", of->overall), ("compute", of->compute),
                ("post", of->post), ("complete", of->complete));
}
