/* SPDX-License-Identifier: BSD-3-Clause */
#include "experiments/hotspot/ring.h"

#include <stdbool.h>

void iso_ring_plan(int nodes, int in, int out, int place, iso_ring_plan_t *plan)
{
    int both = in < out ? in : out, more = (in > out ? in : out) - both;
    int pairs = nodes / 2, mine = place / 2;
    bool receiver = (place % 2 == 0) == (in > out);
    plan->receives = plan->sends = 0;
    for (int k = 1; k <= both; k++) {
        plan->from[plan->receives++] = (place + nodes - k) % nodes;
        plan->to[plan->sends++] = (place + k) % nodes;
    }
    if (place >= 2 * pairs) {
        return; /* the last of an odd number */
    }
    /* Senders and receivers alternate, so each pair of places has one of both:
     * a sender goes through the receivers, from that of its own pair on. */
    for (int k = 0; k < more; k++) {
        int other = (receiver ? mine + pairs - k % pairs : mine + k) % pairs;
        int parity = place % 2 == 0 ? 1 : 0;
        if (receiver) {
            plan->from[plan->receives++] = 2 * other + parity;
        } else {
            plan->to[plan->sends++] = 2 * other + parity;
        }
    }
}

double iso_ring_busy(int nodes, int in, int out)
{
    double less = in < out ? in : out, most = in < out ? out : in;
    double last = nodes % 2 ? less : most;
    return (most * (nodes - 1) + last) / (most * nodes);
}
