/* SPDX-License-Identifier: BSD-3-Clause */
#include "io_recorder/timing.h"

#include "recording/memory.h"

__thread iso_timing_t *iso_timing;
static __thread iso_timing_t own;

void iso_timing_begin(void)
{
    iso_slot_t *slots = own.slots;
    int room = own.room;
    own = (iso_timing_t){.slots = slots, .room = room};
    own.exchange_began = -1;
    own.begin = own.agreed = PMPI_Wtime();
    iso_timing = &own;
}

static iso_slot_t *slot(void)
{
    static __thread iso_slot_t none;
    return own.used ? &own.slots[own.used - 1] : &none;
}

static void begin_slot(double sync)
{
    if (own.used == ISO_MAX_SLOTS) {
        own.too_many = true;
        return;
    }
    ISO_GROW(own.slots, own.used, own.room);
    own.slots[own.used++] = (iso_slot_t){.sync = (float)sync};
}

/** The exchange, if there is one, ended with its last wait. */
static void end_exchange(void)
{
    if (own.exchange_began >= 0) {
        slot()->exchange += (float)(own.exchange_ended - own.exchange_began);
        own.exchange_began = -1;
        own.exchanges++;
    }
}

iso_timing_t *iso_timing_end(void)
{
    own.seconds = PMPI_Wtime() - own.begin;
    end_exchange();
    if (!own.in_rounds) {
        own.offsets = own.agreed - own.begin;
    }
    own.rounds = own.rounds ? own.rounds : own.exchanges;
    iso_timing = NULL;
    return &own;
}

const iso_timing_t *iso_timing_last(void)
{
    return &own;
}

static void begin_rounds(double at)
{
    own.offsets = at - own.begin;
    own.in_rounds = true;
}

void iso_timing_sync(iso_sync_t what, double begin, double end)
{
    own.messages_seen = true;
    end_exchange();
    own.alltoalls += what == ISO_ALLTOALL;
    if (own.in_rounds) {
        begin_slot(end - begin);
        own.rounds += what == ISO_ALLTOALL;
    } else if (what == ISO_ALLREDUCE && own.alltoalls == 1) {
        begin_rounds(end);
        begin_slot(0);
    } else if (own.alltoalls == 2) { /* no Allreduce before the rounds */
        begin_rounds(begin);
        begin_slot(end - begin);
        own.rounds++;
    } else {
        own.agreed = end;
    }
}

void iso_timing_message(double begin)
{
    own.messages_seen = true;
    if (own.in_rounds && own.exchange_began < 0) {
        own.exchange_began = own.exchange_ended = begin;
    }
}

void iso_timing_waited(double end)
{
    if (own.exchange_began >= 0) {
        own.exchange_ended = end;
    }
}

void iso_timing_file(double begin, double end)
{
    own.file_seen = true;
    own.accessed += end - begin;
    end_exchange();
    if (!own.in_rounds) {
        begin_rounds(own.agreed);
        begin_slot(0);
    }
    iso_slot_t *in = slot();
    *(in->exchange > 0 ? &in->after : &in->before) += (float)(end - begin);
}
