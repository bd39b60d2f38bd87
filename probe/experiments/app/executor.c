/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE
#include "experiments/app/executor.h"

#include "base/check.h"
#include "experiments/app/stores.h"

#include <sys/resource.h>

enum { TAG_AMONG = 8301 };

static void set_channels(const iso_program_t *program, const iso_step_t *step,
                         iso_channel_t *channels)
{
    size_t count = iso_step_channels(step);
    bool first_out = step->kind == ISO_STEP_SEND ||
                     step->kind == ISO_STEP_ISEND ||
                     step->kind == ISO_STEP_FARM;
    for (size_t k = 0; k < count; k++) {
        bool second = count > 1 && k >= count / 2;
        channels[k].phase = step->phase;
        channels[k].most =
            program->values[second ? step->answer : step->size].most;
        channels[k].out = second ? !first_out : first_out;
        channels[k].peer =
            step->list ? step->list[k % step->count] : step->peer;
    }
}

/** By phase, direction and peer, then in the order of the steps. */
static int by_way(const void *a, const void *b)
{
    const iso_channel_t *x = *(iso_channel_t *const *)a;
    const iso_channel_t *y = *(iso_channel_t *const *)b;
    if (x->phase != y->phase) {
        return x->phase < y->phase ? -1 : 1;
    }
    if (x->out != y->out) {
        return x->out ? 1 : -1;
    }
    if (x->peer != y->peer) {
        return x->peer < y->peer ? -1 : 1;
    }
    return x < y ? -1 : 1;
}

/** Number the messages of the same phase and direction. */
static void number_channels(iso_executor_t *executor)
{
    size_t count = executor->channel_count;
    iso_channel_t **sorted = ISO_NEW(iso_channel_t *, count);
    for (size_t k = 0; k < count; k++) {
        sorted[k] = &executor->channels[k];
    }
    qsort(sorted, count, sizeof(*sorted), by_way);
    for (size_t k = 1; k < count; k++) {
        const iso_channel_t *before = sorted[k - 1];
        if (before->phase == sorted[k]->phase &&
            before->out == sorted[k]->out && before->peer == sorted[k]->peer) {
            sorted[k]->number = before->number + 1;
        }
    }
    executor->sorted = sorted;
}

static void open_channels(iso_executor_t *executor)
{
    const iso_program_t *program = executor->program;
    size_t at = 0;
    for (long k = 0; k < program->step_count; k++) {
        executor->channel_count += iso_step_channels(&program->steps[k]);
    }
    executor->channels = ISO_NEW(iso_channel_t, executor->channel_count);
    for (long k = 0; k < program->step_count; k++) {
        executor->parts[k].channels = &executor->channels[at];
        set_channels(program, &program->steps[k], executor->parts[k].channels);
        at += iso_step_channels(&program->steps[k]);
    }
    number_channels(executor);
}

/** The number of a task is the tag of its message. */
static void check_tags(const iso_step_t *step)
{
    int *most = NULL, known = 0;
    MPI_CHECK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &most, &known));
    if (known && step->tasks > *most) {
        ISO_FAIL("the application has %ld concurrent tasks, but this MPI only "
                 "%d tags",
                 step->tasks, *most);
    }
}

static void set_places(iso_executor_t *executor, const iso_step_t *step,
                       iso_part_t *part)
{
    int ranks = executor->own->ranks;
    part->place = ISO_NEW(int, ranks);
    for (int r = 0; r < ranks; r++) {
        part->place[r] = -1;
    }
    for (int k = 0; k < step->count; k++) {
        part->place[step->list[k]] = k;
    }
    if (step->kind == ISO_STEP_FARM) {
        check_tags(step);
    }
    if (step->kind == ISO_STEP_SERVE) {
        int **early = &executor->early[step->phase];
        *early = *early ? *early : ISO_NEW(int, ranks);
        part->early = *early;
        part->served = ISO_NEW(long, step->count);
    } else {
        part->given = ISO_NEW(long, step->count);
    }
}

/** The communicator of some ranks, made once for all steps among them. */
static void set_comm(iso_executor_t *executor, long index)
{
    const iso_step_t *step = &executor->program->steps[index];
    iso_part_t *part = &executor->parts[index];
    for (long k = 0; k < index; k++) {
        const iso_step_t *before = &executor->program->steps[k];
        if (before->kind == ISO_STEP_COLLECTIVE &&
            before->count == step->count &&
            memcmp(before->list, step->list, step->count * sizeof(int)) == 0) {
            part->comm = executor->parts[k].comm;
            return;
        }
    }
    MPI_Group all, some;
    part->owns_comm = true;
    MPI_CHECK(MPI_Comm_group(executor->comm, &all));
    MPI_CHECK(MPI_Group_incl(all, step->count, step->list, &some));
    MPI_CHECK(
        MPI_Comm_create_group(executor->comm, some, TAG_AMONG, &part->comm));
    MPI_CHECK(MPI_Group_free(&some));
    MPI_CHECK(MPI_Group_free(&all));
}

static void set_collective(iso_executor_t *executor, long index)
{
    const iso_step_t *step = &executor->program->steps[index];
    iso_part_t *part = &executor->parts[index];
    part->comm = executor->comm;
    part->root = step->peer;
    if (step->count == 0) {
        return;
    }
    set_comm(executor, index);
    for (int k = 0; k < step->count; k++) {
        if (step->list[k] == step->peer) {
            part->root = k;
        }
    }
}

static void prepare_parts(iso_executor_t *executor)
{
    const iso_program_t *program = executor->program;
    size_t steps = program->step_count;
    executor->parts = ISO_NEW(iso_part_t, steps);
    executor->early = ISO_NEW(int *, executor->own->phase_count);
    open_channels(executor);
    for (long k = 0; k < program->step_count; k++) {
        const iso_step_t *step = &program->steps[k];
        if (step->kind == ISO_STEP_SERVE || step->kind == ISO_STEP_FARM) {
            set_places(executor, step, &executor->parts[k]);
        } else if (step->kind == ISO_STEP_COLLECTIVE) {
            set_collective(executor, k);
        }
    }
}

/** Touch all memory, so that it is allocated before timing. */
static char *buffer(const iso_executor_t *executor, double bytes)
{
    char *memory = iso_calloc((size_t)bytes + 1, 1);
    if (!executor->ctx->clock.simulated) {
        memset(memory, 1, (size_t)bytes + 1);
        memset(memory, 0, (size_t)bytes + 1); /* doubles that can be added */
    }
    return memory;
}

static void open_buffers(iso_executor_t *executor)
{
    const iso_program_t *program = executor->program;
    iso_needs_t needs = {0};
    int begun = 0;
    for (long k = 0; k < program->step_count; k++) {
        iso_step_kind_t kind = program->steps[k].kind;
        iso_needs_add(&needs, program, executor->own, &program->steps[k]);
        begun += kind == ISO_STEP_ISEND || kind == ISO_STEP_IRECV;
    }
    executor->send = buffer(executor, needs.send);
    executor->receive = buffer(executor, needs.receive);
    executor->pending = buffer(executor, needs.pending);
    executor->requests = ISO_NEW(MPI_Request, begun);
    executor->begun = ISO_NEW(iso_begun_t, begun);
}

void iso_executor_init(iso_executor_t *executor, const iso_context_t *ctx,
                       const iso_program_t *program, int app, MPI_Comm comm)
{
    *executor = (iso_executor_t){.ctx = ctx,
                                 .program = program,
                                 .app = app,
                                 .own = &program->apps[app],
                                 .comm = comm};
    MPI_CHECK(MPI_Comm_rank(comm, &executor->rank));
    MPI_CHECK(MPI_Comm_dup(comm, &executor->tasks));
    prepare_parts(executor);
    open_buffers(executor);
    iso_stores_open(executor);
    iso_stats_t *stats = &executor->stats;
    stats->phases = ISO_NEW(double, executor->own->phase_count);
    stats->room =
        executor->own->background || executor->own->iterations > ISO_MAX_STORED
            ? ISO_MAX_STORED
            : executor->own->iterations;
    stats->each = ISO_NEW(double, stats->room);
    long events = program->step_count;
    for (long k = 0; k < program->step_count; k++) {
        events =
            program->steps[k].kind == ISO_STEP_REPEAT ? ISO_MAX_EVENTS : events;
    }
    int room = events < ISO_MAX_EVENTS ? (int)events : ISO_MAX_EVENTS;
    executor->timeline = (iso_timeline_t){
        .events = ISO_NEW(iso_event_t, room), .room = room, .iteration = -1};
}

static long switches_so_far(void)
{
    struct rusage usage;
    return getrusage(RUSAGE_SELF, &usage) == 0 ? usage.ru_nivcsw : 0;
}

void iso_executor_begin(iso_executor_t *executor, double now)
{
    for (size_t k = 0; k < executor->channel_count; k++) {
        executor->channels[k].messages = executor->channels[k].bytes = 0;
    }
    executor->timeline.count = 0;
    iso_stats_t *stats = &executor->stats;
    stats->computing = stats->requested = stats->delivered = 0;
    stats->iterations = 0;
    memset(stats->phases, 0, executor->own->phase_count * sizeof(double));
    stats->switches = switches_so_far();
    stats->begin = now;
}

void iso_executor_end(iso_executor_t *executor, double now)
{
    executor->stats.end = now;
    executor->stats.switches = switches_so_far() - executor->stats.switches;
}

void iso_executor_rehearse(iso_executor_t *executor)
{
    executor->rehearsal = true;
    iso_execute(executor, 0, iso_now());
    iso_stores_settle(executor);
    executor->rehearsal = false;
}

void iso_executor_free(iso_executor_t *executor)
{
    const iso_program_t *program = executor->program;
    for (long k = 0; k < program->step_count; k++) {
        if (executor->parts[k].owns_comm) {
            MPI_CHECK(MPI_Comm_free(&executor->parts[k].comm));
        }
    }
    iso_stores_close(executor);
    for (long k = 0; k < program->step_count; k++) {
        free(executor->parts[k].place);
        free(executor->parts[k].served);
        free(executor->parts[k].given);
    }
    for (int k = 0; k < executor->own->phase_count; k++) {
        free(executor->early[k]);
    }
    free(executor->early);
    free(executor->parts);
    free(executor->channels);
    free(executor->sorted);
    free(executor->send);
    free(executor->receive);
    free(executor->pending);
    free(executor->requests);
    free(executor->begun);
    free(executor->stats.phases);
    free(executor->stats.each);
    free(executor->timeline.events);
    MPI_CHECK(MPI_Comm_free(&executor->tasks));
    MPI_CHECK(MPI_Comm_free(&executor->comm));
}
