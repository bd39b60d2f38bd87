/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/source.h"

#ifndef ISO_SOURCE
#define ISO_SOURCE "unknown"
#endif

/* Exported, so that the linker does not drop it as unused. */
__attribute__((visibility("default"))) const char iso_source[] =
    ISO_SOURCE_MARK ISO_SOURCE;
