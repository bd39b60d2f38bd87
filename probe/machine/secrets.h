/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file secrets.h
 * Detects secrets (passwords, tokens, keys) in environment variables, so that
 * run files can be shared. In doubt a value is omitted.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/** Whether a variable of this name is meant to hold a secret. */
bool iso_secret_name(const char *name, size_t length);

/** Whether a value looks like one: an address with a password, a private key,
 *  a long random word. */
bool iso_secret_value(const char *value);
