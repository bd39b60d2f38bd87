/* SPDX-License-Identifier: BSD-3-Clause */
#define _POSIX_C_SOURCE 200809L
#include "sampling/pair_blocks.h"

#include "base/check.h"
#include "base/checksum.h"
#include "machine/clock.h"

#include <math.h>

/** Seconds that a pair is kept at most while others are measured. */
static const double KEPT = 1;

struct block {
    int count;
    iso_pair_record_t pairs[ISO_BLOCK_PAIRS];
};

struct iso_pair_blocks {
    iso_record_t *record;
    const iso_sizes_t *sizes;
    int format;
    bool ways;            /**< directions have times */
    struct block *blocks; /**< one a message size; format 2 */
    long written, pairs;
    double
        since; /**< when the last block was written, or the first pair kept */
};

int iso_pair_format(int ranks, bool sampled)
{
    return sampled || ranks >= ISO_COMPACT_RANKS ? 2 : 1;
}

iso_pair_blocks_t *iso_pair_blocks_open(iso_record_t *record,
                                        const iso_sizes_t *sizes, int format,
                                        bool ways)
{
    iso_pair_blocks_t *b = ISO_NEW(iso_pair_blocks_t, 1);
    b->record = record;
    b->sizes = sizes;
    b->format = format;
    b->ways = ways;
    b->blocks = format > 1 ? ISO_NEW(struct block, sizes->count) : NULL;
    b->since = iso_now();
    return b;
}

/* --- format 1 ------------------------------------------------------------ */

static void write_pair(iso_record_t *record, long long bytes,
                       const iso_pair_record_t *pair)
{
    iso_record_begin(record, "pair");
    ISO_MEMBERS(record, ("i", pair->i), ("j", pair->j), ("bytes", bytes));
    iso_sampler_record(&pair->summary, record);
    if (pair->forward > 0 && pair->reverse > 0) {
        ISO_MEMBERS(record, ("forward", pair->forward),
                    ("reverse", pair->reverse));
    }
    if (pair->batch > 1) {
        iso_record_int(record, "batch", pair->batch);
    }
    if (pair->shared_cpu) {
        iso_record_bool(record, "shared_cpu", true);
    }
    if (pair->retest) {
        iso_record_bool(record, "retest", true);
    }
    iso_record_end(record);
}

/* --- format 2 ------------------------------------------------------------ */

/** Write 32-bit words, little-endian, in base64 (RFC 4648) as a member. */
static void write_words(iso_record_t *record, const char *key,
                        const uint32_t *words, int count)
{
    static const char digits[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    char text[(ISO_BLOCK_PAIRS * 4 + 2) / 3 * 4 + 1];
    int length = 4 * count, out = 0;
    for (int k = 0; k < length; k += 3) {
        uint32_t three = 0;
        for (int b = 0; b < 3; b++) {
            int at = k + b;
            uint32_t byte =
                at < length ? words[at / 4] >> (8 * (at % 4)) & 0xff : 0;
            three = three << 8 | byte;
        }
        for (int d = 0; d < 4; d++) {
            bool used = k + d <= length;
            text[out++] = used ? digits[three >> (18 - 6 * d) & 63] : '=';
        }
    }
    text[out] = 0;
    iso_record_text(record, key, text);
}

static void write_column(iso_record_t *record, const char *key,
                         const struct block *block, size_t member)
{
    uint32_t words[ISO_BLOCK_PAIRS];
    for (int k = 0; k < block->count; k++) {
        double value;
        memcpy(&value, (const char *)&block->pairs[k] + member, sizeof(value));
        float seconds = (float)fmax(0, value);
        memcpy(&words[k], &seconds, sizeof(seconds));
    }
    write_words(record, key, words, block->count);
}

/** A whole number of each pair: once if it is always the same. */
static void write_numbers(iso_record_t *record, const char *key,
                          const uint32_t *numbers, int count)
{
    bool same = true;
    for (int k = 1; k < count; k++) {
        same &= numbers[k] == numbers[0];
    }
    if (same) {
        iso_record_int(record, key, numbers[0]);
    } else {
        write_words(record, key, numbers, count);
    }
}

static void write_members(iso_record_t *record, const struct block *block,
                          bool ways)
{
    enum { NUMBERS = 6 };
    static const char *const keys[NUMBERS] = {"i",     "j",          "n",
                                              "batch", "shared_cpu", "retest"};
    uint32_t numbers[NUMBERS][ISO_BLOCK_PAIRS];
    for (int k = 0; k < block->count; k++) {
        const iso_pair_record_t *pair = &block->pairs[k];
        const uint32_t own[] = {
            pair->i,     pair->j,          (uint32_t)pair->summary.n,
            pair->batch, pair->shared_cpu, pair->retest};
        for (int m = 0; m < NUMBERS; m++) {
            numbers[m][k] = own[m];
        }
    }
    write_words(record, keys[0], numbers[0], block->count);
    write_words(record, keys[1], numbers[1], block->count);
    for (int m = 2; m < NUMBERS; m++) {
        write_numbers(record, keys[m], numbers[m], block->count);
    }
#define TIME(name)                                                             \
    {                                                                          \
        #name, offsetof(iso_pair_record_t, summary.name)                       \
    }
    static const struct {
        const char *key;
        size_t member;
    } times[] = {TIME(mean), TIME(stddev), TIME(min), TIME(median),
                 TIME(p95),  TIME(max),    TIME(low), TIME(high)};
    for (size_t k = 0; k < ISO_LENGTH(times); k++) {
        write_column(record, times[k].key, block, times[k].member);
    }
    if (ways) {
        write_column(record, "forward", block,
                     offsetof(iso_pair_record_t, forward));
        write_column(record, "reverse", block,
                     offsetof(iso_pair_record_t, reverse));
    }
}

static void write_block(iso_pair_blocks_t *b, int size)
{
    struct block *block = &b->blocks[size];
    if (block->count == 0) {
        return;
    }
    char *text = NULL;
    size_t length = 0;
    FILE *memory = open_memstream(&text, &length);
    if (!memory) {
        ISO_FAIL("no memory for %d pairs", block->count);
    }
    iso_record_t line = {.stream = memory};
    iso_record_begin(&line, "pairs");
    ISO_MEMBERS(&line, ("block", b->written++), ("count", block->count),
                ("bytes", b->sizes->bytes[size]));
    write_members(&line, block, b->ways);
    if (fclose(memory) != 0) {
        ISO_FAIL("no memory for %d pairs", block->count);
    }
    char sum[16];
    snprintf(sum, sizeof(sum), "%08x", (unsigned)iso_crc32(text, length));
    fwrite(text, 1, length, b->record->stream);
    free(text);
    b->record->separator = true;
    iso_record_text(b->record, "crc", sum);
    iso_record_end(b->record);
    b->pairs += block->count;
    block->count = 0;
}

/* --- both ---------------------------------------------------------------- */

void iso_pair_blocks_add(iso_pair_blocks_t *b, int size,
                         const iso_pair_record_t *pair)
{
    if (b->format == 1) {
        write_pair(b->record, b->sizes->bytes[size], pair);
        return;
    }
    struct block *block = &b->blocks[size];
    block->pairs[block->count++] = *pair;
    if (block->count == ISO_BLOCK_PAIRS) {
        write_block(b, size);
    }
}

static void write_all(iso_pair_blocks_t *b)
{
    for (int size = 0; size < b->sizes->count; size++) {
        write_block(b, size);
    }
    b->since = iso_now();
}

void iso_pair_blocks_flush(iso_pair_blocks_t *b)
{
    if (b->format > 1 && iso_now() - b->since > KEPT) {
        write_all(b);
    }
    iso_record_flush(b->record);
}

void iso_pair_blocks_close(iso_pair_blocks_t *b)
{
    if (b->format > 1) {
        write_all(b);
        ISO_RECORD(b->record, "blocks", ("blocks", b->written),
                   ("pairs", b->pairs));
    }
    iso_record_flush(b->record);
    free(b->blocks);
    free(b);
}
