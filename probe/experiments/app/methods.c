/* SPDX-License-Identifier: BSD-3-Clause */
#include "experiments/app/methods.h"

#include "base/check.h"
#include "experiments/app/stores.h"

/** Whether the data travel in the messages. */
static bool travels(const iso_player_t *player, const iso_channel_t *channel)
{
    return player->own->phases[channel->phase].method == ISO_METHOD_MESSAGE;
}

/** Count what is sent in the iterations that were asked for. */
static void count(const iso_player_t *player, iso_channel_t *channel, int bytes)
{
    if (player->outer < player->own->iterations) {
        channel->messages++;
        channel->bytes += bytes;
    }
}

/** Put the data where they are taken from. @return bytes of the message */
static int prepare(iso_player_t *player, iso_channel_t *channel, int bytes)
{
    count(player, channel, bytes);
    if (travels(player, channel)) {
        return bytes;
    }
    iso_store_put(player, channel, bytes);
    return 0;
}

void iso_move_send(iso_player_t *player, iso_channel_t *channel, MPI_Comm comm,
                   int tag, int bytes)
{
    int length = prepare(player, channel, bytes);
    MPI_CHECK(
        MPI_Send(player->send, length, MPI_BYTE, channel->peer, tag, comm));
}

void iso_move_tell(iso_player_t *player, iso_channel_t *channel, MPI_Comm comm,
                   int tag)
{
    count(player, channel, 0);
    MPI_CHECK(MPI_Send(NULL, 0, MPI_BYTE, channel->peer, tag, comm));
}

void iso_move_recv(iso_player_t *player, iso_channel_t *channel, MPI_Comm comm,
                   int tag, int bytes)
{
    int length = travels(player, channel) ? bytes : 0;
    MPI_CHECK(MPI_Recv(player->receive, length, MPI_BYTE, channel->peer, tag,
                       comm, MPI_STATUS_IGNORE));
    iso_move_take(player, channel, bytes);
}

MPI_Status iso_move_any(iso_player_t *player, int source, MPI_Comm comm,
                        int tag, int most)
{
    MPI_Status status;
    MPI_CHECK(
        MPI_Recv(player->receive, most, MPI_BYTE, source, tag, comm, &status));
    return status;
}

void iso_move_take(iso_player_t *player, iso_channel_t *channel, int bytes)
{
    if (!travels(player, channel)) {
        iso_store_take(player, channel, player->receive, bytes);
    }
}

void iso_move_isend(iso_player_t *player, iso_channel_t *channel, int tag,
                    int bytes)
{
    int length = prepare(player, channel, bytes);
    iso_begun_t *begun = &player->begun[player->begun_count];
    *begun = (iso_begun_t){channel, NULL, 0};
    MPI_CHECK(MPI_Isend(player->send, length, MPI_BYTE, channel->peer, tag,
                        player->comm,
                        &player->requests[player->begun_count++]));
}

void iso_move_irecv(iso_player_t *player, iso_channel_t *channel, int tag,
                    int bytes)
{
    int length = travels(player, channel) ? bytes : 0;
    char *into = player->pending + player->arriving;
    player->begun[player->begun_count] = (iso_begun_t){channel, into, bytes};
    MPI_CHECK(MPI_Irecv(into, length, MPI_BYTE, channel->peer, tag,
                        player->comm,
                        &player->requests[player->begun_count++]));
    player->arriving += (size_t)bytes;
}

void iso_move_wait(iso_player_t *player)
{
    MPI_CHECK(MPI_Waitall(player->begun_count, player->requests,
                          MPI_STATUSES_IGNORE));
    for (int k = 0; k < player->begun_count; k++) {
        iso_begun_t *begun = &player->begun[k];
        if (begun->into && !travels(player, begun->channel)) {
            iso_store_take(player, begun->channel, begun->into, begun->bytes);
        }
    }
    player->begun_count = 0;
    player->arriving = 0;
}
