/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file wrapper.h
 * Exported functions of the preloaded libraries; all others are hidden.
 */
#ifndef ISO_WRAPPER_H
#define ISO_WRAPPER_H

/** Marks a function that replaces one of the MPI library. */
#define ISO_WRAPPER __attribute__((visibility("default")))

/** PREFIX3(a, b, c) for three arguments; at most 13. */
#define ISO_FOR_ALL(PREFIX, ...)                                               \
    ISO_FOR_ALL_OF(PREFIX, __VA_ARGS__, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3,   \
                   2, 1)                                                       \
    (__VA_ARGS__)
#define ISO_FOR_ALL_OF(PREFIX, a, b, c, d, e, f, g, h, i, j, k, l, m, count,   \
                       ...)                                                    \
    PREFIX##count

/* Parameters of these types, and the same as arguments of another call. */
#define ISO_PARAMETERS(...)          ISO_FOR_ALL(ISO_PARAMETERS_, __VA_ARGS__)
#define ISO_ARGUMENTS(...)           ISO_FOR_ALL(ISO_ARGUMENTS_, __VA_ARGS__)
#define ISO_PARAMETERS_1(type)       type a1
#define ISO_ARGUMENTS_1(...)         a1
#define ISO_PARAMETERS_2(type, ...)  type a2, ISO_PARAMETERS_1(__VA_ARGS__)
#define ISO_ARGUMENTS_2(...)         a2, ISO_ARGUMENTS_1()
#define ISO_PARAMETERS_3(type, ...)  type a3, ISO_PARAMETERS_2(__VA_ARGS__)
#define ISO_ARGUMENTS_3(...)         a3, ISO_ARGUMENTS_2()
#define ISO_PARAMETERS_4(type, ...)  type a4, ISO_PARAMETERS_3(__VA_ARGS__)
#define ISO_ARGUMENTS_4(...)         a4, ISO_ARGUMENTS_3()
#define ISO_PARAMETERS_5(type, ...)  type a5, ISO_PARAMETERS_4(__VA_ARGS__)
#define ISO_ARGUMENTS_5(...)         a5, ISO_ARGUMENTS_4()
#define ISO_PARAMETERS_6(type, ...)  type a6, ISO_PARAMETERS_5(__VA_ARGS__)
#define ISO_ARGUMENTS_6(...)         a6, ISO_ARGUMENTS_5()
#define ISO_PARAMETERS_7(type, ...)  type a7, ISO_PARAMETERS_6(__VA_ARGS__)
#define ISO_ARGUMENTS_7(...)         a7, ISO_ARGUMENTS_6()
#define ISO_PARAMETERS_8(type, ...)  type a8, ISO_PARAMETERS_7(__VA_ARGS__)
#define ISO_ARGUMENTS_8(...)         a8, ISO_ARGUMENTS_7()
#define ISO_PARAMETERS_9(type, ...)  type a9, ISO_PARAMETERS_8(__VA_ARGS__)
#define ISO_ARGUMENTS_9(...)         a9, ISO_ARGUMENTS_8()
#define ISO_PARAMETERS_10(type, ...) type a10, ISO_PARAMETERS_9(__VA_ARGS__)
#define ISO_ARGUMENTS_10(...)        a10, ISO_ARGUMENTS_9()
#define ISO_PARAMETERS_11(type, ...) type a11, ISO_PARAMETERS_10(__VA_ARGS__)
#define ISO_ARGUMENTS_11(...)        a11, ISO_ARGUMENTS_10()
#define ISO_PARAMETERS_12(type, ...) type a12, ISO_PARAMETERS_11(__VA_ARGS__)
#define ISO_ARGUMENTS_12(...)        a12, ISO_ARGUMENTS_11()

#endif
