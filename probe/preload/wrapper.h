/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file wrapper.h
 * Exported functions of the preloaded libraries; all others are hidden.
 */
#ifndef ISO_WRAPPER_H
#define ISO_WRAPPER_H

/** Marks a function that replaces one of the MPI library. */
#define ISO_WRAPPER __attribute__((visibility("default")))

/** EACH(3, a), EACH(2, b), EACH(1, c) for the arguments a, b, c; at most 13. */
#define ISO_FOR_ALL(EACH, ...)                                                 \
    ISO_FOR_ALL_OF(__VA_ARGS__, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1)     \
    (EACH, __VA_ARGS__)
#define ISO_FOR_ALL_OF(a, b, c, d, e, f, g, h, i, j, k, l, m, count, ...)      \
    ISO_FOR_##count
#define ISO_FOR_1(EACH, one)       EACH(1, one)
#define ISO_FOR_2(EACH, one, ...)  EACH(2, one), ISO_FOR_1(EACH, __VA_ARGS__)
#define ISO_FOR_3(EACH, one, ...)  EACH(3, one), ISO_FOR_2(EACH, __VA_ARGS__)
#define ISO_FOR_4(EACH, one, ...)  EACH(4, one), ISO_FOR_3(EACH, __VA_ARGS__)
#define ISO_FOR_5(EACH, one, ...)  EACH(5, one), ISO_FOR_4(EACH, __VA_ARGS__)
#define ISO_FOR_6(EACH, one, ...)  EACH(6, one), ISO_FOR_5(EACH, __VA_ARGS__)
#define ISO_FOR_7(EACH, one, ...)  EACH(7, one), ISO_FOR_6(EACH, __VA_ARGS__)
#define ISO_FOR_8(EACH, one, ...)  EACH(8, one), ISO_FOR_7(EACH, __VA_ARGS__)
#define ISO_FOR_9(EACH, one, ...)  EACH(9, one), ISO_FOR_8(EACH, __VA_ARGS__)
#define ISO_FOR_10(EACH, one, ...) EACH(10, one), ISO_FOR_9(EACH, __VA_ARGS__)
#define ISO_FOR_11(EACH, one, ...) EACH(11, one), ISO_FOR_10(EACH, __VA_ARGS__)
#define ISO_FOR_12(EACH, one, ...) EACH(12, one), ISO_FOR_11(EACH, __VA_ARGS__)
#define ISO_FOR_13(EACH, one, ...) EACH(13, one), ISO_FOR_12(EACH, __VA_ARGS__)

/* Parameters of these types, and the same as arguments of another call. */
#define ISO_PARAMETERS(...)        ISO_FOR_ALL(ISO_PARAMETER, __VA_ARGS__)
#define ISO_PARAMETER(place, type) type a##place
#define ISO_ARGUMENTS(...)         ISO_FOR_ALL(ISO_ARGUMENT, __VA_ARGS__)
#define ISO_ARGUMENT(place, type)  a##place

#endif
