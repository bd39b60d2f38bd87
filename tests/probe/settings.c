/* SPDX-License-Identifier: BSD-3-Clause */
/* Says which variables of its environment are settings of the MPI library: a
 * line "NAME=VALUE" each, "NAME" alone of a secret, then how many were too many
 * and the checksum. "long N" sets UCX_LONG to N letters before; "twice" has
 * UCX_TLS twice, as execve allows. */
#include "machine/settings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern char **environ;

int main(int argc, char **argv)
{
    static iso_settings_t settings;
    static char *twice[] = {"UCX_TLS=first", "UCX_TLS=second", NULL};
    char value[ISO_SETTING_LONGEST + 64];
    if (argc > 2 && strcmp(argv[1], "long") == 0) {
        size_t length = (size_t)atol(argv[2]);
        char *text = malloc(length + 1);
        memset(text, '.', length);
        text[length] = '\0';
        setenv("UCX_LONG", text, 1);
        free(text);
    } else if (argc > 1) {
        environ = twice;
    }
    iso_settings_find(&settings);
    for (int k = 0; k < settings.count; k++) {
        const iso_setting_t *one = &settings.one[k];
        printf("%.*s", (int)one->name, one->text);
        if (!one->secret) {
            iso_setting_value(one, value);
            printf("=%s", value);
        }
        putchar('\n');
    }
    printf("%d %08x\n", settings.more, (unsigned)iso_settings_sum(&settings));
    return 0;
}
