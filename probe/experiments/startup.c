/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file startup.c
 * Times what a launch takes before and after its work, and the creation of
 * communicators.
 *
 * Each launch gives one sample of
 *
 *     launch    from the start of the launcher to the first rank's main()
 *     init      MPI_Init on each rank
 *     finalize  MPI_Finalize on rank 0, as no rank can report after it
 *
 * launch needs a rank on the host of the launcher, whose clock both share, and
 * the variable ISOCHRONE_LAUNCHED in its environment; else there is none.
 *
 * Communicators are created from the first p ranks, for p = 2, 4, 8 … and all.
 * All p ranks make one untimed, which is verified, and then for each sample:
 *
 *     MPI_Barrier
 *     start = now
 *     create a communicator
 *     time = now - start
 *     MPI_Comm_free
 *
 * The time is that of the slowest rank. Other ranks sleep.
 */
#include "base/check.h"
#include "machine/own_collectives.h"
#include "sampling/sampler.h"
#include "sampling/sweep.h"
#include "sampling/time_limit.h"

enum { TAG = 8401, MAX_SUBJECTS = 4 * 32 };

static const iso_option_t *const all_options[] = {iso_time_limit_options,
                                                  iso_sampler_options, NULL};

/* --- communicators ------------------------------------------------------- */

static MPI_Comm comm_split(MPI_Comm comm, MPI_Group all, int rank, int p)
{
    MPI_Comm made;
    MPI_CHECK(MPI_Comm_split(comm, 2 * rank / p, rank, &made));
    return made;
}

static MPI_Comm comm_dup(MPI_Comm comm, MPI_Group all, int rank, int p)
{
    MPI_Comm made;
    MPI_CHECK(MPI_Comm_dup(comm, &made));
    return made;
}

static MPI_Comm comm_create(MPI_Comm comm, MPI_Group all, int rank, int p)
{
    MPI_Comm made;
    MPI_CHECK(MPI_Comm_create(comm, all, &made));
    return made;
}

static MPI_Comm comm_create_group(MPI_Comm comm, MPI_Group all, int rank, int p)
{
    MPI_Comm made;
    MPI_CHECK(MPI_Comm_create_group(comm, all, TAG, &made));
    return made;
}

/** The name of a curve, and how the communicator is made. */
static const struct creation {
    const char *op;
    MPI_Comm (*make)(MPI_Comm comm, MPI_Group all, int rank, int p);
    bool halves; /**< it has half of the ranks, not all */
} creations[] = {
    {"comm_split", comm_split, true},
    {"comm_dup", comm_dup, false},
    {"comm_create", comm_create, false},
    {"comm_create_group", comm_create_group, false},
};

enum { CREATIONS = sizeof(creations) / sizeof(creations[0]) };

/** One creation on the first p ranks. */
typedef struct subject {
    const struct creation *creation;
    int p;
    MPI_Comm comm;
    MPI_Group group;
} subject_t;

struct state {
    const iso_context_t *ctx;
    subject_t subjects[MAX_SUBJECTS];
    int count;
};

static bool takes_part(void *self, int subject, int rank)
{
    const struct state *state = self;
    return rank < state->subjects[subject].p;
}

static void perform(void *self, const iso_task_t *task, double *seconds)
{
    const struct state *state = self;
    const subject_t *s = &state->subjects[task->subject];
    for (long k = 0; k < task->samples; k++) {
        double total = 0;
        for (long n = 0; n < task->batch; n++) {
            MPI_CHECK(MPI_Barrier(s->comm));
            double start = iso_now();
            MPI_Comm made =
                s->creation->make(s->comm, s->group, state->ctx->rank, s->p);
            total += iso_now() - start;
            MPI_CHECK(MPI_Comm_free(&made));
        }
        seconds[k] = total / task->batch;
    }
}

static void record(void *self, const iso_task_t *task, const double *times,
                   int reporters, long sample)
{
    const struct state *state = self;
    const subject_t *s = &state->subjects[task->subject];
    ISO_MEMBERS(state->ctx->record, ("op", s->creation->op), ("p", s->p));
    iso_record_doubles(state->ctx->record, "times", times, reporters);
}

/** Whether a communicator has the ranks it should have, in their order, and
 *  is another one than that it was made from. */
static bool is_right(const subject_t *s, MPI_Comm made, int rank)
{
    int first = 0, end = s->p, relation, size, mine, sum;
    if (s->creation->halves) {
        int half = 2 * rank / s->p;
        first = (half * s->p + 1) / 2;
        end = half ? s->p : (s->p + 1) / 2;
    }
    MPI_CHECK(MPI_Comm_compare(s->comm, made, &relation));
    MPI_CHECK(MPI_Comm_size(made, &size));
    MPI_CHECK(MPI_Comm_rank(made, &mine));
    if (relation == MPI_IDENT || size != end - first || mine != rank - first) {
        return false;
    }
    sum = rank;
    iso_plain_allreduce(made, &sum, 1, MPI_INT, MPI_SUM);
    return 2 * sum == (first + end - 1) * size;
}

/** Make a communicator of each subject; remove those that are wrong.
 *  @return their number */
static int verify(struct state *state)
{
    const iso_context_t *ctx = state->ctx;
    int kept = 0, wrong = 0;
    for (int k = 0; k < state->count; k++) {
        subject_t *s = &state->subjects[k];
        int here = 0;
        if (ctx->rank < s->p) {
            MPI_Comm made =
                s->creation->make(s->comm, s->group, ctx->rank, s->p);
            here = !is_right(s, made, ctx->rank);
            if (!here) { /* a wrong one may be that of others */
                MPI_CHECK(MPI_Comm_free(&made));
            }
        }
        iso_plain_allreduce(ctx->control, &here, 1, MPI_INT, MPI_SUM);
        if (here && ctx->rank == 0) {
            iso_record_wrong_result(
                ctx->record,
                "%s of %d ranks makes a wrong communicator on %d of them and "
                "was not timed",
                s->creation->op, s->p, here);
        }
        wrong += here > 0;
        if (!here) {
            state->subjects[kept++] = *s;
        }
    }
    state->count = kept;
    return wrong;
}

/** Add all creations on the first @a p ranks. */
static void add_subjects(struct state *state, int p)
{
    const iso_context_t *ctx = state->ctx;
    MPI_Comm comm;
    MPI_Group group = MPI_GROUP_NULL;
    int color = ctx->rank < p ? 0 : MPI_UNDEFINED;
    MPI_CHECK(MPI_Comm_split(ctx->comm, color, ctx->rank, &comm));
    if (comm != MPI_COMM_NULL) {
        MPI_CHECK(MPI_Comm_group(comm, &group));
    }
    for (int k = 0; k < CREATIONS; k++) {
        state->subjects[state->count++] =
            (subject_t){&creations[k], p, comm, group};
    }
}

/* --- the run ------------------------------------------------------------- */

static void record_launch(iso_record_t *out, const char *op, int p,
                          const double *times, double seconds)
{
    iso_record_begin(out, "sample");
    ISO_MEMBERS(out, ("op", op), ("p", p));
    if (times) {
        iso_record_doubles(out, "times", times, p);
    }
    ISO_MEMBERS(out, ("bytes", 0), ("pass", 0), ("repeat", 0),
                ("seconds", seconds));
    iso_record_end(out);
}

/** Record the time of MPI_Init on each rank, and that of the launch. */
static void record_beginning(const iso_context_t *ctx)
{
    double slowest = 0, first = -1;
    iso_beginning_t *each = ISO_NEW(iso_beginning_t, ctx->size);
    double *times = ISO_NEW(double, ctx->size);
    iso_plain_gather(ctx->control, &ctx->beginning, sizeof(*each), each);
    for (int r = 0; ctx->rank == 0 && r < ctx->size; r++) {
        times[r] = each[r].init;
        slowest = times[r] > slowest ? times[r] : slowest;
        if (each[r].launch >= 0 && (first < 0 || each[r].launch < first)) {
            first = each[r].launch;
        }
    }
    if (ctx->rank == 0) {
        record_launch(ctx->record, "init", ctx->size, times, slowest);
        if (first >= 0) {
            record_launch(ctx->record, "launch", ctx->size, NULL, first);
        }
        iso_record_flush(ctx->record);
    }
    free(times);
    free(each);
}

static void finalized(iso_record_t *out, int size, double seconds)
{
    if (seconds >= 0) {
        record_launch(out, "finalize", size, NULL, seconds);
    }
}

static iso_outcome_t run(iso_context_t *ctx)
{
    static const iso_sizes_t no_size = {.count = 1};
    struct state state = {.ctx = ctx};
    record_beginning(ctx);
    for (int p = 2; p < ctx->size; p *= 2) {
        add_subjects(&state, p);
    }
    add_subjects(&state, ctx->size);
    struct state all = state;
    ctx->failed = verify(&state) > 0;
    iso_sweep_t sweep = {
        .ctx = ctx,
        .self = &state,
        .subjects = state.count,
        .sizes = &no_size,
        .takes_part = takes_part,
        .perform = perform,
        .record = record,
    };
    iso_outcome_t outcome = iso_sweep_run(&sweep);
    for (int k = 0; k < all.count; k += CREATIONS) {
        if (all.subjects[k].comm != MPI_COMM_NULL) {
            MPI_CHECK(MPI_Group_free(&all.subjects[k].group));
            MPI_CHECK(MPI_Comm_free(&all.subjects[k].comm));
        }
    }
    return outcome;
}

static const char *const by[] = {"op", "p", NULL};

const iso_experiment_t iso_experiment_startup = {
    .name = "startup",
    .summary = "times of a launch, MPI_Init, MPI_Finalize, and of the creation "
               "of communicators",
    .kind = "sweep",
    .by = by,
    .options = all_options,
    .min_ranks = 2,
    .check = iso_sampler_check,
    .resolve = iso_sampler_resolve,
    .quantity_text = "operation, slowest rank; launch: until the first main()",
    .run = run,
    .finalized = finalized,
};
