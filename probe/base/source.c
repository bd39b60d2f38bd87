/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/source.h"

#ifndef ISO_SOURCE
#define ISO_SOURCE "unknown"
#endif

/* Visible from outside, or a linker may drop what nobody in a library uses. */
__attribute__((visibility("default"))) const char iso_source[] =
    ISO_SOURCE_MARK ISO_SOURCE;
