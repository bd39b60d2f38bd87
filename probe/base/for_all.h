/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file for_all.h
 * A macro for each argument of a list.
 */
#pragma once

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
