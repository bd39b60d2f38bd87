/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file source.h
 * Hash of the sources this program or library was built from. It can be read
 * from the file without loading it: search for the mark.
 */
#pragma once

#define ISO_SOURCE_MARK "isochrone-source "

/** The mark, and the first 16 hexadecimal digits of the hash of all sources
 *  (the Makefile says how it is computed). */
extern const char iso_source[];
