/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file checksum.h
 * CRC-32 as zlib computes it.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/** Checksum of @a length bytes. */
static inline uint32_t iso_crc32(const void *bytes, size_t length)
{
    static uint32_t table[256];
    const unsigned char *byte = bytes;
    for (uint32_t n = 0; table[255] == 0 && n < 256; n++) {
        uint32_t c = n;
        for (int k = 0; k < 8; k++) {
            c = c & 1 ? 0xedb88320u ^ c >> 1 : c >> 1;
        }
        table[n] = c;
    }
    uint32_t sum = 0xffffffffu;
    for (size_t k = 0; k < length; k++) {
        sum = table[(sum ^ byte[k]) & 0xff] ^ sum >> 8;
    }
    return ~sum;
}
