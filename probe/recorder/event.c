/* SPDX-License-Identifier: BSD-3-Clause */
#include "recorder/event.h"

#include "base/lists.h"
#include "recording/map.h"

#include <string.h>

const char *const iso_op_names[ISO_OP_COUNT] = {
#define X(name, effect) #name,
    ISO_OPS(X)
#undef X
};

const iso_effect_t iso_op_effects[ISO_OP_COUNT] = {
#define X(name, effect) ISO_##effect,
    ISO_OPS(X)
#undef X
};

uint32_t iso_event_hash(const iso_event_t *event)
{
    uint64_t part[sizeof(*event) / sizeof(uint64_t)], hash = 1;
    memcpy(part, event, sizeof(part));
    for (unsigned k = 0; k < ISO_LENGTH(part); k++) {
        hash = iso_mix(hash, part[k]);
    }
    return (uint32_t)(hash >> 32);
}
