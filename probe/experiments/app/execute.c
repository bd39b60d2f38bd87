/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/check.h"
#include "collectives/on_grid.h"
#include "experiments/app/executor.h"
#include "experiments/app/methods.h"
#include "machine/computation.h"

/* --- patterns ---------------------------------------------------------- */

/*
 * Steps that serve several ranks in order of arrival: server, farm leader and
 * worker.
 */

/** Sample results, and what the master computes, separately from tasks. */
enum { RESULT = 1 << 20, DISPATCH = 1 << 21, NONE_LEFT = 0 };

static void answer(iso_executor_t *executor, const iso_step_t *step,
                   iso_part_t *part, int client)
{
    iso_channel_t *request = &part->channels[client];
    iso_channel_t *reply = &part->channels[step->count + client];
    int requested =
        iso_executor_bytes(executor, step->size, request->peer, request);
    iso_move_take(executor, request, requested);
    iso_executor_compute(executor, step, executor->rank, request->peer);
    int bytes =
        iso_executor_bytes(executor, step->answer, executor->rank, reply);
    iso_move_send(executor, reply, executor->comm, step->phase, bytes);
    part->served[client] = executor->serial;
}

/**
 * Answer one request of each client, in order of arrival. Further requests are
 * first in the next such step.
 */
static void iso_pattern_serve(iso_executor_t *executor, const iso_step_t *step,
                              iso_part_t *part)
{
    int left = step->count;
    executor->serial++;
    for (int k = 0; k < step->count; k++) {
        int *early = &part->early[step->list[k]];
        if (*early > 0) {
            --*early;
            answer(executor, step, part, k);
            left--;
        }
    }
    int most = (int)executor->program->values[step->size].most;
    while (left > 0) {
        int client = iso_move_any(executor, MPI_ANY_SOURCE, executor->comm,
                                  step->phase, most)
                         .MPI_SOURCE;
        int place = part->place[client];
        if (place < 0 || part->served[place] == executor->serial) {
            part->early[client]++;
        } else {
            answer(executor, step, part, place);
            left--;
        }
    }
}

/** Send a worker task number @a next, or the end. */
static bool hand_out(iso_executor_t *executor, const iso_step_t *step,
                     iso_channel_t *channel, long next)
{
    if (next >= step->tasks) {
        iso_move_tell(executor, channel, executor->tasks, NONE_LEFT);
        return false;
    }
    iso_executor_compute(executor, step, executor->rank, DISPATCH + next);
    int bytes = iso_executor_draw(executor, step->size, executor->rank,
                                  step->phase, next);
    iso_move_send(executor, channel, executor->tasks, next + 1, bytes);
    return true;
}

/**
 * Distribute tasks. A task's number, counted from 1, is the tag of its
 * message; 0 means the end.
 */
static void iso_pattern_farm(iso_executor_t *executor, const iso_step_t *step,
                             iso_part_t *part)
{
    long next = 0;
    int busy = 0;
    for (int k = 0; k < step->count; k++, next++) {
        part->given[k] = next;
        busy += hand_out(executor, step, &part->channels[k], next);
    }
    int most = (int)executor->program->values[step->answer].most;
    while (busy > 0) {
        MPI_Status status = iso_move_any(executor, MPI_ANY_SOURCE,
                                         executor->comm, step->phase, most);
        int worker = part->place[status.MPI_SOURCE];
        uint64_t task = part->given[worker];
        iso_move_take(executor, &part->channels[step->count + worker],
                      iso_executor_draw(executor, step->answer, executor->rank,
                                        step->phase, RESULT + task));
        part->given[worker] = next;
        busy -= !hand_out(executor, step, &part->channels[worker], next++);
    }
}

static void iso_pattern_work(iso_executor_t *executor, const iso_step_t *step,
                             iso_part_t *part)
{
    int most = (int)executor->program->values[step->size].most;
    for (;;) {
        int tag = iso_move_any(executor, step->peer, executor->tasks,
                               MPI_ANY_TAG, most)
                      .MPI_TAG;
        if (tag == NONE_LEFT) {
            return;
        }
        uint64_t task = (uint64_t)tag - 1;
        iso_move_take(executor, &part->channels[0],
                      iso_executor_draw(executor, step->size, step->peer,
                                        step->phase, task));
        iso_executor_compute(executor, step, step->peer, task);
        iso_move_send(executor, &part->channels[1], executor->comm, step->phase,
                      iso_executor_draw(executor, step->answer, step->peer,
                                        step->phase, RESULT + task));
    }
}

enum { DOUBLE = sizeof(double) };

/** Random key of the n-th message in one direction of a phase. */
static const uint64_t NEXT_MESSAGE = 1 << 20;

int iso_executor_draw(const iso_executor_t *executor, int values, int rank,
                      int phase, uint64_t number)
{
    const uint64_t numbers[] = {executor->app, rank, phase, executor->iteration,
                                number};
    return (int)(iso_program_draw(executor->program, values, numbers) + 0.5);
}

int iso_executor_bytes(const iso_executor_t *executor, int values, int sender,
                       const iso_channel_t *channel)
{
    int receiver = channel->out ? channel->peer : executor->rank;
    return iso_executor_draw(executor, values, sender, channel->phase,
                             receiver + channel->number * NEXT_MESSAGE);
}

void iso_executor_compute(iso_executor_t *executor, const iso_step_t *step,
                          int rank, uint64_t number)
{
    if (executor->rehearsal) {
        return;
    }
    const uint64_t numbers[] = {executor->app, rank, step->phase,
                                executor->iteration, number};
    double seconds =
        step->factor * iso_program_draw(executor->program, step->time, numbers);
    if (step->schedule >= 0) {
        const iso_values_t *factors =
            &executor->program->values[step->schedule];
        seconds *= factors->items[executor->iteration % factors->count];
    }
    double begin = iso_now();
    executor->stats.requested += seconds;
    executor->stats.delivered +=
        iso_compute(step->mode, seconds, executor->ctx->clock.simulated);
    executor->stats.computing += iso_now() - begin;
}

static void operate(iso_executor_t *executor, const iso_step_t *step,
                    const iso_part_t *part)
{
    const iso_operation_t *operation = step->operation;
    int bytes = iso_executor_draw(executor, step->size, 0, step->phase, 0);
    iso_call_t call = {.comm = part->comm,
                       .root = part->root,
                       .send = executor->send,
                       .receive = executor->receive,
                       .count = bytes,
                       .type = MPI_BYTE,
                       .reduction = MPI_SUM,
                       .in_place = -1};
    if (operation->reduces) { /* whole doubles */
        call.count = bytes / DOUBLE + (bytes % DOUBLE != 0);
        call.type = MPI_DOUBLE;
    }
    if (step->on_grid) {
        call.grid = &step->grid;
        iso_on_grid(operation)(&call);
    } else {
        operation->call(&call);
    }
}

static void perform(iso_executor_t *executor, const iso_step_t *step,
                    iso_part_t *part)
{
    iso_channel_t *channel = part->channels;
    switch (step->kind) {
    case ISO_STEP_COMPUTE:
        iso_executor_compute(executor, step, executor->rank, 0);
        break;
    case ISO_STEP_SEND:
        iso_move_send(
            executor, channel, executor->comm, step->phase,
            iso_executor_bytes(executor, step->size, executor->rank, channel));
        break;
    case ISO_STEP_ISEND:
        iso_move_isend(
            executor, channel, step->phase,
            iso_executor_bytes(executor, step->size, executor->rank, channel));
        break;
    case ISO_STEP_RECV:
        iso_move_recv(
            executor, channel, executor->comm, step->phase,
            iso_executor_bytes(executor, step->size, channel->peer, channel));
        break;
    case ISO_STEP_IRECV:
        iso_move_irecv(
            executor, channel, step->phase,
            iso_executor_bytes(executor, step->size, channel->peer, channel));
        break;
    case ISO_STEP_WAIT:
        iso_move_wait(executor);
        break;
    case ISO_STEP_SERVE:
        iso_pattern_serve(executor, step, part);
        break;
    case ISO_STEP_FARM:
        iso_pattern_farm(executor, step, part);
        break;
    case ISO_STEP_WORK:
        iso_pattern_work(executor, step, part);
        break;
    case ISO_STEP_COLLECTIVE:
        operate(executor, step, part);
        break;
    case ISO_STEP_REPEAT: /* see execute_steps */
        break;
    }
}

static void add_event(iso_timeline_t *timeline, const iso_step_t *step,
                      double begin, double end)
{
    iso_event_t *last = timeline->events + timeline->count;
    bool any = timeline->count > 0;
    bool begins = step->kind == ISO_STEP_ISEND || step->kind == ISO_STEP_IRECV;
    if (any && begins && last[-1].step->kind == step->kind &&
        last[-1].step->phase == step->phase) {
        last[-1].end = end;
    } else if (timeline->count < timeline->room) {
        *last = (iso_event_t){step, begin, end};
        timeline->count++;
    }
}

/**
 * Execute steps from @a first to before @a end, some of them repeatedly.
 *
 * A step's draws are numbered by how often it was reached.
 *
 * @return when it was over
 */
static double execute_steps(iso_executor_t *executor, long first, long end,
                            long iteration, double last)
{
    const iso_program_t *program = executor->program;
    bool watched = executor->outer == executor->timeline.iteration;
    for (long k = first; k < end; k++) {
        const iso_step_t *step = &program->steps[k];
        if (step->kind == ISO_STEP_REPEAT) {
            bool now =
                executor->rehearsal || (iteration + 1) % step->every == 0;
            long times = executor->rehearsal ? 1 : now ? step->tasks : 0;
            long turn = iteration / step->every * step->list[1] + step->list[0];
            for (long j = 0; j < times; j++) {
                last = execute_steps(executor, k + 1, k + 1 + step->length,
                                     turn + j, last);
            }
            k += step->length;
            continue;
        }
        executor->iteration = iteration;
        perform(executor, step, &executor->parts[k]);
        double now = iso_now();
        executor->stats.phases[step->phase] += now - last;
        if (watched) {
            add_event(&executor->timeline, step, last, now);
        }
        last = now;
    }
    return last;
}

double iso_execute(iso_executor_t *executor, long iteration, double begin)
{
    executor->outer = iteration;
    double last = execute_steps(executor, 0, executor->program->step_count,
                                iteration, begin);
    if (executor->begun_count > 0) { /* begun, and not waited for */
        iso_move_wait(executor);
        last = iso_now();
    }
    iso_stats_t *stats = &executor->stats;
    if (stats->iterations < stats->room) {
        stats->each[stats->iterations] = last - begin;
    }
    stats->iterations++;
    return last;
}
