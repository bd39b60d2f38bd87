/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file sequence.c
 * Folds calls that it reads, and prints what was kept.
 *
 *     sequence LIMIT < CALLS
 *
 * A call is "PEER BYTES GAP"; GAP in whole microseconds. Prints "detail N",
 * then lines "DEPTH loop COUNT" and "DEPTH call PEER BYTES CALLS GAPS…", with
 * the count and the sum in microseconds of each way.
 */
#include "recorder/sequence.h"
#include "preload/program.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

const char *const iso_program_library = "sequence";

static void print(const iso_node_t *node, int depth)
{
    if (node->length) {
        printf("%d loop %ld\n", depth, node->count);
        for (int k = 0; k < node->length; k++) {
            print(node->body[k], depth + 1);
        }
        return;
    }
    printf("%d call %d %.0f %ld", depth, (int)node->event.peer, node->bytes,
           node->calls);
    for (const iso_gap_t *gap = &node->gap; gap; gap = gap->outer) {
        printf(" %ld %ld", gap->count, lround(1e6 * gap->total));
    }
    printf("\n");
}

int main(int argc, char **argv)
{
    iso_sequence_t sequence;
    int peer, bytes, gap;
    iso_sequence_begin(&sequence, argc > 1 ? atol(argv[1]) : ISO_LIMIT);
    while (scanf("%d %d %d", &peer, &bytes, &gap) == 3) {
        iso_event_t event = iso_event(ISO_OP_send);
        event.peer = peer;
        event.bytes = bytes;
        iso_sequence_add(&sequence, &event, 1e-6 * gap, 0, ISO_NONE);
    }
    printf("detail %d\n", (int)sequence.detail);
    for (int k = 0; k < sequence.used; k++) {
        print(sequence.top[k], 0);
    }
    iso_sequence_end(&sequence);
    return 0;
}
