/* SPDX-License-Identifier: BSD-3-Clause */
#include "experiments/app/patterns.h"

#include "base/check.h"
#include "experiments/app/methods.h"

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

void iso_pattern_serve(iso_executor_t *executor, const iso_step_t *step,
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

void iso_pattern_farm(iso_executor_t *executor, const iso_step_t *step,
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

void iso_pattern_work(iso_executor_t *executor, const iso_step_t *step,
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
