/* SPDX-License-Identifier: BSD-3-Clause */
#include "experiments/latency_map/ranking.h"

#include "base/check.h"

void iso_ranking_init(iso_ranking_t *r, int room)
{
    r->room = room;
    r->count = 0;
    r->pairs = ISO_NEW(iso_pair_t, room);
    r->badness = ISO_NEW(double, room);
}

void iso_ranking_free(iso_ranking_t *r)
{
    free(r->pairs);
    free(r->badness);
}

void iso_ranking_offer(iso_ranking_t *r, iso_pair_t pair, double badness)
{
    if (r->room == 0 ||
        (r->count == r->room && badness <= r->badness[r->count - 1])) {
        return;
    }
    int place = r->count < r->room ? r->count++ : r->room - 1;
    for (; place > 0 && badness > r->badness[place - 1]; place--) {
        r->pairs[place] = r->pairs[place - 1];
        r->badness[place] = r->badness[place - 1];
    }
    r->pairs[place] = pair;
    r->badness[place] = badness;
}

bool iso_rankings_hold(const iso_ranking_t *rankings, int count,
                       iso_pair_t pair)
{
    for (const iso_ranking_t *r = rankings; r < rankings + count; r++) {
        for (int k = 0; k < r->count; k++) {
            if (r->pairs[k].i == pair.i && r->pairs[k].j == pair.j) {
                return true;
            }
        }
    }
    return false;
}
