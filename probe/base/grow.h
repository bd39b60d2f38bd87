/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file grow.h
 * Lists that grow. Whoever uses it has an iso_resized(memory, bytes) that never
 * fails: base/check.h of the probe, recording/memory.h of the libraries.
 */
#pragma once

/** Make room in @a list, which holds @a used objects, for one more. */
#define ISO_GROW(list, used, room)                                             \
    do {                                                                       \
        if ((used) == (room)) {                                                \
            (room) = (room) ? 2 * (room) : 4;                                  \
            (list) = iso_resized(list, (size_t)(room) * sizeof(*(list)));      \
        }                                                                      \
    } while (0)
