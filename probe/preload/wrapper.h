/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file wrapper.h
 * Exported functions of the preloaded libraries; all others are hidden.
 */
#pragma once

#include "base/for_all.h"

/** Marks a function that replaces one of the MPI library. */
#define ISO_WRAPPER __attribute__((visibility("default")))

/* Parameters of these types, and the same as arguments of another call. */
#define ISO_PARAMETERS(...)        ISO_FOR_ALL(ISO_PARAMETER, __VA_ARGS__)
#define ISO_PARAMETER(place, type) type a##place
#define ISO_ARGUMENTS(...)         ISO_FOR_ALL(ISO_ARGUMENT, __VA_ARGS__)
#define ISO_ARGUMENT(place, type)  a##place
