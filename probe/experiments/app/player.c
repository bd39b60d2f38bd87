/* SPDX-License-Identifier: BSD-3-Clause */
#include "experiments/app/player.h"

#include "base/check.h"
#include "experiments/app/stores.h"

#include <string.h>

enum { TAG_AMONG = 8301 };

/** How many channels a step has. */
static size_t channels_of(const iso_step_t *step)
{
    switch (step->kind) {
    case ISO_STEP_SEND:
    case ISO_STEP_ISEND:
    case ISO_STEP_RECV:
    case ISO_STEP_IRECV:
        return 1;
    case ISO_STEP_SERVE:
    case ISO_STEP_FARM:
        return 2 * (size_t)step->count;
    case ISO_STEP_WORK:
        return 2;
    default:
        return 0;
    }
}

static void set_channels(const iso_program_t *program, const iso_step_t *step,
                         iso_channel_t *channels)
{
    size_t count = channels_of(step);
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
            step->list ? step->list[k % (size_t)step->count] : step->peer;
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

/** Number the messages that go the same way in the same phase. */
static void number_channels(iso_player_t *player)
{
    size_t count = player->channel_count;
    iso_channel_t **sorted = iso_calloc(count, sizeof(*sorted));
    for (size_t k = 0; k < count; k++) {
        sorted[k] = &player->channels[k];
    }
    qsort(sorted, count, sizeof(*sorted), by_way);
    for (size_t k = 1; k < count; k++) {
        const iso_channel_t *before = sorted[k - 1];
        if (before->phase == sorted[k]->phase &&
            before->out == sorted[k]->out && before->peer == sorted[k]->peer) {
            sorted[k]->number = before->number + 1;
        }
    }
    player->sorted = sorted;
}

static void open_channels(iso_player_t *player)
{
    const iso_program_t *program = player->program;
    size_t at = 0;
    for (long k = 0; k < program->step_count; k++) {
        player->channel_count += channels_of(&program->steps[k]);
    }
    player->channels = iso_calloc(player->channel_count, sizeof(iso_channel_t));
    for (long k = 0; k < program->step_count; k++) {
        player->parts[k].channels = &player->channels[at];
        set_channels(program, &program->steps[k], player->parts[k].channels);
        at += channels_of(&program->steps[k]);
    }
    number_channels(player);
}

/** The number of a task is the tag of its message. */
static void check_tags(const iso_step_t *step)
{
    int *most = NULL, known = 0;
    MPI_CHECK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &most, &known));
    if (known && step->tasks > *most) {
        ISO_FAIL("%ld tasks at a time, this MPI has tags for %d", step->tasks,
                 *most);
    }
}

static void set_places(iso_player_t *player, const iso_step_t *step,
                       iso_part_t *part)
{
    size_t ranks = (size_t)player->own->ranks;
    part->place = iso_calloc(ranks, sizeof(int));
    for (size_t r = 0; r < ranks; r++) {
        part->place[r] = -1;
    }
    for (int k = 0; k < step->count; k++) {
        part->place[step->list[k]] = k;
    }
    if (step->kind == ISO_STEP_FARM) {
        check_tags(step);
    }
    if (step->kind == ISO_STEP_SERVE) {
        int **early = &player->early[step->phase];
        *early = *early ? *early : iso_calloc(ranks, sizeof(int));
        part->early = *early;
        part->served = iso_calloc((size_t)step->count, sizeof(long));
    } else {
        part->given = iso_calloc((size_t)step->count, sizeof(long));
    }
}

static bool same_ranks(const iso_step_t *a, const iso_step_t *b)
{
    return a->kind == ISO_STEP_COLLECTIVE && a->count == b->count &&
           a->count > 0 &&
           memcmp(a->list, b->list, (size_t)a->count * sizeof(int)) == 0;
}

/** The communicator of some ranks, made once for all steps among them. */
static MPI_Comm comm_among(const iso_player_t *player, long index)
{
    const iso_step_t *step = &player->program->steps[index];
    for (long k = 0; k < index; k++) {
        if (same_ranks(&player->program->steps[k], step)) {
            return player->parts[k].comm;
        }
    }
    MPI_Group all, some;
    MPI_Comm comm;
    MPI_CHECK(MPI_Comm_group(player->comm, &all));
    MPI_CHECK(MPI_Group_incl(all, step->count, step->list, &some));
    MPI_CHECK(MPI_Comm_create_group(player->comm, some, TAG_AMONG, &comm));
    MPI_CHECK(MPI_Group_free(&some));
    MPI_CHECK(MPI_Group_free(&all));
    return comm;
}

static void set_collective(iso_player_t *player, long index)
{
    const iso_step_t *step = &player->program->steps[index];
    iso_part_t *part = &player->parts[index];
    part->comm = player->comm;
    part->root = step->peer;
    if (step->count == 0) {
        return;
    }
    part->comm = comm_among(player, index);
    for (int k = 0; k < step->count; k++) {
        if (step->list[k] == step->peer) {
            part->root = k;
        }
    }
}

static void prepare_parts(iso_player_t *player)
{
    const iso_program_t *program = player->program;
    size_t steps = (size_t)program->step_count;
    player->parts = iso_calloc(steps, sizeof(iso_part_t));
    player->early = iso_calloc((size_t)player->own->phase_count, sizeof(int *));
    open_channels(player);
    for (long k = 0; k < program->step_count; k++) {
        const iso_step_t *step = &program->steps[k];
        if (step->kind == ISO_STEP_SERVE || step->kind == ISO_STEP_FARM) {
            set_places(player, step, &player->parts[k]);
        } else if (step->kind == ISO_STEP_COLLECTIVE) {
            set_collective(player, k);
        }
    }
}

/** Memory that was never written to may not be there when it is needed. */
static char *buffer(const iso_player_t *player, double bytes)
{
    char *memory = iso_calloc((size_t)bytes + 1, 1);
    if (!player->ctx->clock.simulated) {
        memset(memory, 1, (size_t)bytes + 1);
        memset(memory, 0, (size_t)bytes + 1); /* doubles that can be added */
    }
    return memory;
}

static void open_buffers(iso_player_t *player)
{
    const iso_program_t *program = player->program;
    iso_needs_t needs = {0};
    int begun = 0;
    for (long k = 0; k < program->step_count; k++) {
        iso_step_kind_t kind = program->steps[k].kind;
        iso_needs_add(&needs, program, player->own, &program->steps[k]);
        begun += kind == ISO_STEP_ISEND || kind == ISO_STEP_IRECV;
    }
    player->send = buffer(player, needs.send);
    player->receive = buffer(player, needs.receive);
    player->pending = buffer(player, needs.pending);
    player->requests = iso_calloc((size_t)begun, sizeof(MPI_Request));
    player->begun = iso_calloc((size_t)begun, sizeof(iso_begun_t));
}

void iso_player_init(iso_player_t *player, const iso_context_t *ctx,
                     const iso_program_t *program, int app, MPI_Comm comm)
{
    memset(player, 0, sizeof(*player));
    player->ctx = ctx;
    player->program = program;
    player->app = app;
    player->own = &program->apps[app];
    player->comm = comm;
    MPI_CHECK(MPI_Comm_rank(comm, &player->rank));
    MPI_CHECK(MPI_Comm_dup(comm, &player->tasks));
    prepare_parts(player);
    open_buffers(player);
    iso_stores_open(player);
    iso_account_init(&player->account, player->own);
    long events = program->step_count;
    for (long k = 0; k < program->step_count; k++) {
        events = program->steps[k].kind == ISO_STEP_REPEAT ? ISO_MAX_EVENTS
                                                           : events;
    }
    iso_timeline_init(&player->timeline, events);
}

void iso_player_begin(iso_player_t *player, double now)
{
    for (size_t k = 0; k < player->channel_count; k++) {
        player->channels[k].messages = player->channels[k].bytes = 0;
    }
    player->timeline.count = 0;
    iso_account_begin(&player->account, player->own, now);
}

void iso_player_rehearse(iso_player_t *player)
{
    player->rehearsal = true;
    iso_play(player, 0, iso_now());
    iso_stores_settle(player);
    player->rehearsal = false;
}

/** Communicators that several steps share are freed with the first. */
static void close_collectives(iso_player_t *player)
{
    const iso_program_t *program = player->program;
    for (long k = 0; k < program->step_count; k++) {
        MPI_Comm comm = player->parts[k].comm;
        if (program->steps[k].kind != ISO_STEP_COLLECTIVE ||
            program->steps[k].count == 0 || comm == MPI_COMM_NULL) {
            continue;
        }
        for (long j = k; j < program->step_count; j++) {
            if (same_ranks(&program->steps[j], &program->steps[k])) {
                player->parts[j].comm = MPI_COMM_NULL;
            }
        }
        MPI_CHECK(MPI_Comm_free(&comm));
    }
}

void iso_player_free(iso_player_t *player)
{
    const iso_program_t *program = player->program;
    close_collectives(player);
    iso_stores_close(player);
    for (long k = 0; k < program->step_count; k++) {
        free(player->parts[k].place);
        free(player->parts[k].served);
        free(player->parts[k].given);
    }
    for (int k = 0; k < player->own->phase_count; k++) {
        free(player->early[k]);
    }
    free(player->early);
    free(player->parts);
    free(player->channels);
    free(player->sorted);
    free(player->send);
    free(player->receive);
    free(player->pending);
    free(player->requests);
    free(player->begun);
    iso_account_free(&player->account);
    iso_timeline_free(&player->timeline);
    MPI_CHECK(MPI_Comm_free(&player->tasks));
    MPI_CHECK(MPI_Comm_free(&player->comm));
}
