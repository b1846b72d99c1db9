/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Worlds that lack choice points (`--without`). without_constants() changes options of such a world, and sets
 * budgets to 0. Other choices are removed from lists of actions by the coordinator's without(). */
#include "sim/world.h"

#include <string.h>

#define LETTERS "abcdefgijkl"

bool world_without(const char *letters, uint32_t *mask)
{
    *mask = 0;
    for (const char *at = letters; *at != 0; at++) {
        if (strchr(LETTERS, *at) == NULL) {
            return false;
        }
        *mask |= WORLD_CHOICE_POINT(*at);
    }
    return *mask != 0;
}

void world_without_text(uint32_t mask, char text[WORLD_WITHOUT_MAX])
{
    for (const char *at = LETTERS; *at != 0; at++) {
        if ((mask & WORLD_CHOICE_POINT(*at)) != 0) {
            *text++ = *at;
        }
    }
    *text = 0;
}

void without_constants(struct world_options *options)
{
    if ((options->without & WORLD_CHOICE_POINT('d')) != 0) {
        options->loss_rc = -4;
    }
    if ((options->without & WORLD_CHOICE_POINT('e')) != 0) {
        options->budget[WORLD_FAULT_LAG] = 0;
    }
    if ((options->without & WORLD_CHOICE_POINT('i')) != 0) {
        options->budget[WORLD_FAULT_PAUSE] = 0;
    }
    if ((options->without & WORLD_CHOICE_POINT('j')) != 0) {
        options->defects &= ~WORLD_DEFECT_DROP_AT_CLOSE;
    }
    if ((options->without & WORLD_CHOICE_POINT('k')) != 0) {
        options->budget[WORLD_FAULT_SWEEP] = options->budget[WORLD_FAULT_RMDIR] = 0;
    }
    if ((options->without & WORLD_CHOICE_POINT('l')) != 0) {
        options->callbacks_in_init = false;
    }
}
