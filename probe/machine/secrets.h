/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file secrets.h
 * Run files are sent around, and a variable may hold what must not be: a
 * password, a token, a key. What looks like one is not written down. Rather
 * one harmless value too few than a secret.
 */
#ifndef ISO_SECRETS_H
#define ISO_SECRETS_H

#include <stdbool.h>
#include <stddef.h>

/** Whether a variable of this name is meant to hold a secret. */
bool iso_secret_name(const char *name, size_t length);

/** Whether a value looks like one: an address with a password, a private key,
 *  a long word that nobody made up. */
bool iso_secret_value(const char *value);

#endif
