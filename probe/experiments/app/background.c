/* SPDX-License-Identifier: BSD-3-Clause */
#define _POSIX_C_SOURCE 200809L
#include "experiments/app/background.h"

#include "base/check.h"
#include "machine/own_collectives.h"
#include "messages/idle.h"

#include <math.h>
#include <time.h>

enum { TAG_DONE = 8901, TAG_WINDOW = 8311, MAX_WINDOW = 1 << 20 };

static const double WINDOW = 2e-3, WINDOW_OF_RANK = 20e-6;

void iso_background_init(iso_background_t *b, const iso_context_t *ctx,
                         const iso_program_t *program, int *const *members)
{
    int apps = program->app_count;
    *b = (iso_background_t){.ctx = ctx, .program = program};
    b->roots = ISO_NEW(int, apps);
    for (int k = 0; ctx->rank == 0 && k < apps; k++) {
        b->roots[k] = members[k][0];
    }
    iso_plain_bcast(ctx->control, b->roots, apps, MPI_INT);
    if (ctx->clock.simulated) { /* one process: a place in it is enough */
        uint64_t place = 0;
        if (ctx->rank == 0) {
            b->board = ISO_NEW(long, program->launch_count);
            place = (uintptr_t)b->board;
        }
        iso_plain_bcast(ctx->control, &place, 1, MPI_UINT64_T);
        b->board = (long *)(uintptr_t)place;
    }
}

void iso_background_free(iso_background_t *b)
{
    free(b->roots);
    if (b->ctx->rank == 0) {
        free(b->board);
    }
}

/** Ranks of a launch that do not repeat. */
static int ranks_before(const iso_program_t *program, const iso_launch_t *what)
{
    int ranks = 0;
    for (int k = 0; k < what->count; k++) {
        const iso_app_t *app = &program->apps[what->together[k]];
        ranks += app->background ? 0 : app->ranks;
    }
    return ranks;
}

bool iso_background_repeats(const iso_program_t *program, int launch, int app)
{
    return program->apps[app].background &&
           ranks_before(program, &program->launches[launch]) > 0;
}

void iso_background_tell(const iso_background_t *b, int launch)
{
    const iso_launch_t *what = &b->program->launches[launch];
    if (b->board) {
        b->board[launch]++;
        return;
    }
    for (int k = 0; k < what->count; k++) {
        int app = what->together[k];
        if (b->program->apps[app].background) {
            iso_signal(b->ctx, b->roots[app], TAG_DONE);
        }
    }
}

/** At rank 0 of the application: receive the ranks that are done. */
static int look(const iso_background_t *b, int launch)
{
    int done = 0, there = 1;
    MPI_Status status;
    if (b->board) {
        return b->board[launch];
    }
    for (;; done++) {
        MPI_CHECK(MPI_Iprobe(MPI_ANY_SOURCE, TAG_DONE, b->ctx->control, &there,
                             &status));
        if (!there) {
            return done;
        }
        MPI_CHECK(MPI_Recv(NULL, 0, MPI_BYTE, status.MPI_SOURCE, TAG_DONE,
                           b->ctx->control, MPI_STATUS_IGNORE));
    }
}

static long play_window(iso_executor_t *executor, long from, long length,
                        double *now)
{
    for (long k = from; k < from + length; k++) {
        *now = iso_execute(executor, k, *now);
    }
    return from + length;
}

/** Iterations of the next window, from the time @a length of them took. */
static long window(double seconds, long length, long before, double enough)
{
    double wanted = seconds > 0 ? enough / seconds * length : INFINITY;
    double most = fmin(2. * before, MAX_WINDOW);
    return (long)fmax(1, ceil(fmin(wanted, most)));
}

static double lead(const iso_background_t *b, int launch,
                   iso_executor_t *executor, double now)
{
    int others = ranks_before(b->program, &b->program->launches[launch]);
    double enough = WINDOW + WINDOW_OF_RANK * executor->own->ranks;
    int done = 0;
    for (long next = 0, length = 1, grown = 1, after; length > 0;
         length = after) {
        done = b->board ? look(b, launch) : done + look(b, launch);
        after = done == others ? 0 : grown;
        for (int r = 1; r < executor->own->ranks; r++) {
            MPI_CHECK(
                MPI_Send(&after, 1, MPI_LONG, r, TAG_WINDOW, executor->comm));
        }
        double begin = now = iso_now();
        next = play_window(executor, next, length, &now);
        grown = window(now - begin, length, grown, enough);
        if (b->board && now <= begin) {
            const struct timespec moment = {.tv_nsec = 1000};
            nanosleep(&moment, NULL); /* else a simulator's clock stays */
        }
    }
    return now;
}

static double follow(iso_executor_t *executor, double now)
{
    double end = now;
    for (long next = 0, length = 1, after = 0; length > 0; length = after) {
        MPI_Request request;
        MPI_CHECK(MPI_Irecv(&after, 1, MPI_LONG, 0, TAG_WINDOW, executor->comm,
                            &request));
        next = play_window(executor, next, length, &now);
        end = now;
        MPI_CHECK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        now = iso_now();
    }
    return end;
}

double iso_background_execute(const iso_background_t *b, int launch,
                              iso_executor_t *executor, double begin)
{
    return executor->rank == 0 ? lead(b, launch, executor, begin)
                               : follow(executor, begin);
}
