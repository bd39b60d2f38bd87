/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file lists.h
 * Lists: how long they are, and how they grow.
 */
#pragma once

/** Number of the objects of an array. */
#define ISO_LENGTH(list) (sizeof(list) / sizeof((list)[0]))

/** Make room in @a list, which holds @a used objects, for one more. Whoever
 * uses it has an iso_resized(memory, bytes) that never fails: that of
 * base/check.h in the probe, of recording/memory.h in the libraries. */
#define ISO_GROW(list, used, room)                                             \
    do {                                                                       \
        if ((used) == (room)) {                                                \
            (room) = (room) ? 2 * (room) : 4;                                  \
            (list) = iso_resized(list, (size_t)(room) * sizeof(*(list)));      \
        }                                                                      \
    } while (0)
