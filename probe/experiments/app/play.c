/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/check.h"
#include "collectives/on_grid.h"
#include "experiments/app/compute.h"
#include "experiments/app/methods.h"
#include "experiments/app/patterns.h"
#include "experiments/app/player.h"

enum { DOUBLE = sizeof(double) };

/** The n-th message of one way in a phase has a key of its own. */
static const uint64_t NEXT_MESSAGE = 1 << 20;

int iso_player_draw(const iso_player_t *player, int values, int rank, int phase,
                    uint64_t number)
{
    iso_draw_key_t key = {(uint64_t)player->app, (uint64_t)rank,
                          (uint64_t)phase, (uint64_t)player->iteration, number};
    return (int)(iso_program_draw(player->program, values, key) + 0.5);
}

int iso_player_bytes(const iso_player_t *player, int values, int sender,
                     const iso_channel_t *channel)
{
    int receiver = channel->out ? channel->peer : player->rank;
    return iso_player_draw(player, values, sender, channel->phase,
                           (uint64_t)receiver +
                               (uint64_t)channel->number * NEXT_MESSAGE);
}

void iso_player_compute(iso_player_t *player, const iso_step_t *step, int rank,
                        uint64_t number)
{
    if (player->rehearsal) {
        return;
    }
    iso_draw_key_t key = {(uint64_t)player->app, (uint64_t)rank,
                          (uint64_t)step->phase, (uint64_t)player->iteration,
                          number};
    double seconds =
        step->factor * iso_program_draw(player->program, step->time, key);
    if (step->schedule >= 0) {
        const iso_values_t *factors = &player->program->values[step->schedule];
        seconds *= factors->items[player->iteration % factors->count];
    }
    double begin = iso_now();
    player->account.asked += seconds;
    player->account.delivered +=
        iso_compute(step->mode, seconds, player->ctx->clock.simulated);
    player->account.computing += iso_now() - begin;
}

static void operate(iso_player_t *player, const iso_step_t *step,
                    const iso_part_t *part)
{
    const iso_operation_t *operation = step->operation;
    int bytes = iso_player_draw(player, step->size, 0, step->phase, 0);
    iso_call_t call = {.comm = part->comm,
                       .root = part->root,
                       .send = player->send,
                       .receive = player->receive,
                       .count = bytes,
                       .type = MPI_BYTE};
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

static void perform(iso_player_t *player, const iso_step_t *step,
                    iso_part_t *part)
{
    iso_channel_t *channel = part->channels;
    switch (step->kind) {
    case ISO_STEP_COMPUTE:
        iso_player_compute(player, step, player->rank, 0);
        break;
    case ISO_STEP_SEND:
        iso_move_send(
            player, channel, player->comm, step->phase,
            iso_player_bytes(player, step->size, player->rank, channel));
        break;
    case ISO_STEP_ISEND:
        iso_move_isend(
            player, channel, step->phase,
            iso_player_bytes(player, step->size, player->rank, channel));
        break;
    case ISO_STEP_RECV:
        iso_move_recv(
            player, channel, player->comm, step->phase,
            iso_player_bytes(player, step->size, channel->peer, channel));
        break;
    case ISO_STEP_IRECV:
        iso_move_irecv(
            player, channel, step->phase,
            iso_player_bytes(player, step->size, channel->peer, channel));
        break;
    case ISO_STEP_WAIT:
        iso_move_wait(player);
        break;
    case ISO_STEP_SERVE:
        iso_pattern_serve(player, step, part);
        break;
    case ISO_STEP_FARM:
        iso_pattern_farm(player, step, part);
        break;
    case ISO_STEP_WORK:
        iso_pattern_work(player, step, part);
        break;
    case ISO_STEP_COLLECTIVE:
        operate(player, step, part);
        break;
    case ISO_STEP_REPEAT: /* see play_steps */
        break;
    }
}

/**
 * Play steps from @a first to before @a end, some of them repeatedly.
 *
 * A step's draws are numbered by how often it was reached.
 *
 * @return when it was over
 */
static double play_steps(iso_player_t *player, long first, long end,
                         long iteration, double last)
{
    const iso_program_t *program = player->program;
    bool watched = player->outer == player->timeline.iteration;
    for (long k = first; k < end; k++) {
        const iso_step_t *step = &program->steps[k];
        if (step->kind == ISO_STEP_REPEAT) {
            bool now = player->rehearsal || (iteration + 1) % step->every == 0;
            long times = player->rehearsal ? 1 : now ? step->tasks : 0;
            for (long j = 0; j < times; j++) {
                last =
                    play_steps(player, k + 1, k + 1 + step->length,
                               iteration / step->every * step->tasks + j, last);
            }
            k += step->length;
            continue;
        }
        player->iteration = iteration;
        perform(player, step, &player->parts[k]);
        double now = iso_now();
        player->account.phases[step->phase] += now - last;
        if (watched) {
            iso_timeline_add(&player->timeline, step, last, now);
        }
        last = now;
    }
    return last;
}

double iso_play(iso_player_t *player, long iteration, double begin)
{
    player->outer = iteration;
    double last =
        play_steps(player, 0, player->program->step_count, iteration, begin);
    if (player->begun_count > 0) { /* begun, and not waited for */
        iso_move_wait(player);
        last = iso_now();
    }
    iso_account_iteration(&player->account, last - begin);
    return last;
}
