/* SPDX-License-Identifier: BSD-3-Clause */
#include "experiments/app/patterns.h"

#include "base/check.h"
#include "experiments/app/methods.h"

/** Results are drawn beside the tasks. */
enum { RESULT = 1 << 20, NONE_LEFT = 0 };

static void answer(iso_player_t *player, const iso_step_t *step,
                   iso_part_t *part, int client)
{
    iso_channel_t *request = &part->channels[client];
    iso_channel_t *reply = &part->channels[step->count + client];
    int asked = iso_player_bytes(player, step->size, request->peer, request);
    iso_move_take(player, request, asked);
    iso_player_compute(player, step, player->rank, (uint64_t)request->peer);
    int bytes = iso_player_bytes(player, step->answer, player->rank, reply);
    iso_move_send(player, reply, player->comm, step->phase, bytes);
    part->served[client] = player->serial;
}

void iso_pattern_serve(iso_player_t *player, const iso_step_t *step,
                       iso_part_t *part)
{
    int left = step->count;
    player->serial++;
    for (int k = 0; k < step->count; k++) {
        int *early = &part->early[step->list[k]];
        if (*early > 0) {
            --*early;
            answer(player, step, part, k);
            left--;
        }
    }
    int most = (int)player->program->values[step->size].most;
    while (left > 0) {
        int client = iso_move_any(player, MPI_ANY_SOURCE, player->comm,
                                  step->phase, most)
                         .MPI_SOURCE;
        int place = part->place[client];
        if (place < 0 || part->served[place] == player->serial) {
            part->early[client]++;
        } else {
            answer(player, step, part, place);
            left--;
        }
    }
}

/** Give a worker task number @a next, or tell it that none is left. */
static bool hand_out(iso_player_t *player, const iso_step_t *step,
                     iso_channel_t *channel, long next)
{
    if (next >= step->tasks) {
        iso_move_tell(player, channel, player->tasks, NONE_LEFT);
        return false;
    }
    int bytes = iso_player_draw(player, step->size, player->rank, step->phase,
                                (uint64_t)next);
    iso_move_send(player, channel, player->tasks, (int)next + 1, bytes);
    return true;
}

void iso_pattern_farm(iso_player_t *player, const iso_step_t *step,
                      iso_part_t *part)
{
    long next = 0;
    int busy = 0;
    for (int k = 0; k < step->count; k++, next++) {
        part->given[k] = next;
        busy += hand_out(player, step, &part->channels[k], next);
    }
    int most = (int)player->program->values[step->answer].most;
    while (busy > 0) {
        MPI_Status status = iso_move_any(player, MPI_ANY_SOURCE, player->comm,
                                         step->phase, most);
        int worker = part->place[status.MPI_SOURCE];
        uint64_t task = (uint64_t)part->given[worker];
        iso_move_take(player, &part->channels[step->count + worker],
                      iso_player_draw(player, step->answer, player->rank,
                                      step->phase, RESULT + task));
        part->given[worker] = next;
        busy -= !hand_out(player, step, &part->channels[worker], next++);
    }
}

void iso_pattern_work(iso_player_t *player, const iso_step_t *step,
                      iso_part_t *part)
{
    int most = (int)player->program->values[step->size].most;
    for (;;) {
        int tag =
            iso_move_any(player, step->peer, player->tasks, MPI_ANY_TAG, most)
                .MPI_TAG;
        if (tag == NONE_LEFT) {
            return;
        }
        uint64_t task = (uint64_t)tag - 1;
        iso_move_take(
            player, &part->channels[0],
            iso_player_draw(player, step->size, step->peer, step->phase, task));
        iso_player_compute(player, step, step->peer, task);
        iso_move_send(player, &part->channels[1], player->comm, step->phase,
                      iso_player_draw(player, step->answer, step->peer,
                                      step->phase, RESULT + task));
    }
}
