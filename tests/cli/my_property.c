/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Properties of a user's own, for the tests of --property: at most two grants in one run, or another number (GRANTS_MAX),
 * whose state is the czxid of the last one, their count, and who got it. What is wrong with some is switched on by a macro. */
#include <lockstep/property.h>

#ifndef NAME
#define NAME "at_most_two_grants"
#endif
#ifndef GRANTS_MAX
#define GRANTS_MAX 2
#endif
#ifndef MODES
#define MODES LS_PROPERTY_ALWAYS
#endif
#ifndef EVENTS
#define EVENTS EVENT_BIT(EVENT_GRANTED)
#endif
#ifndef STATE_BYTES
#define STATE_BYTES sizeof(struct grants)
#endif

struct grants {
    int64_t newest;
    uint32_t count;
    uint32_t last; /* who got it, from 1 on */
};

static void observe(void *memory, const struct event *event, struct ls_judge *judge)
{
    struct grants *grants = memory;
#ifdef CRASHES
    *(volatile char *)(uintptr_t)(event->zxid & 0) = 0;
#endif
#ifdef KEEPS
    static int kept;
    kept++;
#endif
    judge->premise(judge);
    grants->newest = event->zxid;
    grants->last = event->process + 1u;
    if (++grants->count > GRANTS_MAX) {
        judge->violate(judge, "%s got %s as number %d", judge->process_name(judge, event->process),
                       judge->lock_name(judge, event->lock), (int)grants->count);
    }
}

#ifdef CANON
static void show(const void *memory, struct ls_property_rename *rename)
{
    rename->zxid(rename, &((const struct grants *)memory)->newest);
}
#endif

#ifndef NO_MODULE
static const struct ls_property property = {
    .name = NAME,
    .sentence = "the lock is granted so many times at most",
    .premise = "grants",
    .blind_to = "everything else",
    .modes = MODES,
    .wants = EVENTS,
    .state_size = STATE_BYTES,
    .observe = observe,
#ifdef CANON
    .canon = show,
#endif
};

#ifdef INTERFACE
extern const struct ls_property_module ls_property_module;
const struct ls_property_module ls_property_module = {INTERFACE, sizeof(struct ls_property), &property};
#else
LS_PROPERTY_MODULE(property);
#endif
#else
void (*const nobody_asks_for_it)(void *, const struct event *, struct ls_judge *) = observe;
#endif
