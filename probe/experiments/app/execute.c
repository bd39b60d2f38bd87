/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/check.h"
#include "collectives/on_grid.h"
#include "experiments/app/methods.h"
#include "experiments/app/patterns.h"
#include "machine/computation.h"

enum { DOUBLE = sizeof(double) };

/** Random key of the n-th message in one direction of a phase. */
static const uint64_t NEXT_MESSAGE = 1 << 20;

int iso_executor_draw(const iso_executor_t *executor, int values, int rank,
                      int phase, uint64_t number)
{
    iso_draw_key_t key = {executor->app, rank, phase, executor->iteration,
                          number};
    return (int)(iso_program_draw(executor->program, values, key) + 0.5);
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
    iso_draw_key_t key = {executor->app, rank, step->phase, executor->iteration,
                          number};
    double seconds =
        step->factor * iso_program_draw(executor->program, step->time, key);
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
            iso_timeline_add(&executor->timeline, step, last, now);
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
    iso_stats_iteration(&executor->stats, last - begin);
    return last;
}
