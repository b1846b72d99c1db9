/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The set of result codes, event types and session states that clients were given: one bit each, in the order
 * of `names`. The set is no part of the world, and no behaviour of the fake depends on it. */
#include "fakezk/internal.h"

#define CODE(name)                                                                                           \
    {                                                                                                        \
#name, &(const int)                                                                                  \
        {                                                                                                    \
            name                                                                                             \
        }                                                                                                    \
    }
#define VALUE(name)                                                                                          \
    {                                                                                                        \
#name, &(name)                                                                                       \
    }

#define THROTTLED (-127) /* ZTHROTTLEDOP, which older headers lack */

enum { EVENTS_FROM = 33, STATES_FROM = EVENTS_FROM + 6, TOLD_NAMES = STATES_FROM + 7 };

static const struct {
    const char *name;
    const int *value;
} names[TOLD_NAMES] = {
    CODE(ZOK),
    CODE(ZSYSTEMERROR),
    CODE(ZRUNTIMEINCONSISTENCY),
    CODE(ZDATAINCONSISTENCY),
    CODE(ZCONNECTIONLOSS),
    CODE(ZMARSHALLINGERROR),
    CODE(ZUNIMPLEMENTED),
    CODE(ZOPERATIONTIMEOUT),
    CODE(ZBADARGUMENTS),
    CODE(ZINVALIDSTATE),
    CODE(ZNEWCONFIGNOQUORUM),
    CODE(ZRECONFIGINPROGRESS),
    CODE(ZSSLCONNECTIONERROR),
    CODE(ZAPIERROR),
    CODE(ZNONODE),
    CODE(ZNOAUTH),
    CODE(ZBADVERSION),
    CODE(ZNOCHILDRENFOREPHEMERALS),
    CODE(ZNODEEXISTS),
    CODE(ZNOTEMPTY),
    CODE(ZSESSIONEXPIRED),
    CODE(ZINVALIDCALLBACK),
    CODE(ZINVALIDACL),
    CODE(ZAUTHFAILED),
    CODE(ZCLOSING),
    CODE(ZNOTHING),
    CODE(ZSESSIONMOVED),
    CODE(ZNOTREADONLY),
    CODE(ZEPHEMERALONLOCALSESSION),
    CODE(ZNOWATCHER),
    CODE(ZRECONFIGDISABLED),
    CODE(ZSESSIONCLOSEDREQUIRESASLAUTH),
    {"ZTHROTTLEDOP", &(const int){THROTTLED}},
    VALUE(ZOO_CREATED_EVENT),
    VALUE(ZOO_DELETED_EVENT),
    VALUE(ZOO_CHANGED_EVENT),
    VALUE(ZOO_CHILD_EVENT),
    VALUE(ZOO_SESSION_EVENT),
    VALUE(ZOO_NOTWATCHING_EVENT),
    VALUE(ZOO_EXPIRED_SESSION_STATE),
    VALUE(ZOO_AUTH_FAILED_STATE),
    VALUE(ZOO_CONNECTING_STATE),
    VALUE(ZOO_ASSOCIATING_STATE),
    VALUE(ZOO_CONNECTED_STATE),
    VALUE(ZOO_READONLY_STATE),
    VALUE(ZOO_NOTCONNECTED_STATE),
};
_Static_assert(TOLD_NAMES <= 64, "a bit each");

static void note(int value, int from, int to)
{
    for (int i = from; i < to; i++) {
        if (*names[i].value == value) {
            fakezk.told |= 1ull << i;
            return;
        }
    }
}

/* Most codes are ZOK, which needs no search. */
int tell_code(int rc)
{
    if (rc == ZOK) {
        fakezk.told |= 1;
    } else {
        note(rc, 1, EVENTS_FROM);
    }
    return rc;
}

void tell_event(int type)
{
    note(type, EVENTS_FROM, STATES_FROM);
}

int tell_state(int state)
{
    note(state, STATES_FROM, TOLD_NAMES);
    return state;
}

uint64_t fakezk_take_told(void)
{
    uint64_t told = fakezk.told;
    fakezk.told = 0;
    return told;
}

const char *fakezk_told_name(int index)
{
    return index >= 0 && index < TOLD_NAMES ? names[index].name : NULL;
}
