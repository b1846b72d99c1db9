/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* What is to be known of each kind of action: its verb, its traits, the fault that pays for it. */
#include <lockstep/sim.h>

/* A step of the coordinator: most of them change something and happen some time in a fair system. */
#define STEP (TRAIT_SYSTEM | TRAIT_STEP)
#define WORK (STEP | TRAIT_MOVES | TRAIT_FAIR)
#define VERB (TRAIT_VERB | TRAIT_MOVES)
#define LOCK_VERB (VERB | TRAIT_LOCK)
#define FAULT_ON_PROCESS (TRAIT_ON_PROCESS | TRAIT_BREAKS)
#define FAULT_ON_SERVER (TRAIT_ON_SERVICE | TRAIT_SERVER | TRAIT_BREAKS)
#define HEALS (TRAIT_HEALS | TRAIT_FAIR)
#define PAID_BY(name) .fault = WORLD_FAULT_##name + 1

const struct action_info world_action_infos[ACTION_KINDS] = {
    [ACTION_APPLY] = {"apply", WORK},
    [ACTION_COMMIT] = {"commit-late", WORK | TRAIT_LINK},
    [ACTION_CATCH_UP] = {"catch-up", WORK | TRAIT_SERVER},
    [ACTION_DELIVER] = {"deliver", WORK},
    [ACTION_CONNECT] = {"connect", WORK | TRAIT_LINK},
    [ACTION_BURY] = {"bury", WORK | TRAIT_LINK},
    [ACTION_HANG_UP] = {"hang-up", WORK | TRAIT_LINK},
    [ACTION_GIVE_UP] = {"give-up", WORK | TRAIT_LINK},
    [ACTION_RECEIVE] = {"receive", WORK},
    [ACTION_HANDSHAKE] = {"handshake", WORK},
    [ACTION_REARM] = {"rearm", WORK},
    [ACTION_LINGER] = {"linger", STEP},
    [ACTION_FIRE] = {"fire", TRAIT_SYSTEM | TRAIT_FAIR},
    [ACTION_ADVANCE] = {"advance", TRAIT_SYSTEM | TRAIT_FAIR},

    /* No owner has to want a lock, to give up, or to come back. */
    [ACTION_ACQUIRE] = {"acquire", LOCK_VERB, .stimulus = "acquire"},
    [ACTION_RELEASE] = {"release", LOCK_VERB | TRAIT_FAIR, .stimulus = "release"},
    [ACTION_CANCEL] = {"cancel", LOCK_VERB | TRAIT_BREAKS, PAID_BY(CANCEL), .stimulus = "cancel"},
    [ACTION_WRITE] = {"write", LOCK_VERB | TRAIT_FAIR},
    [ACTION_REVOCABLE] = {"revocable", LOCK_VERB | TRAIT_FAIR, .stimulus = "revocable"},
    [ACTION_REVOKE] = {"revoke", LOCK_VERB | TRAIT_FAIR, .stimulus = "revoke"},
    [ACTION_STOP] = {"stop", VERB | TRAIT_FAIR, .stimulus = "stop"},
    [ACTION_START] = {"start", VERB, .stimulus = "start"},

    [ACTION_CUT] = {"cut", FAULT_ON_PROCESS | TRAIT_LINK, PAID_BY(LOSS)}, /* LATE, if it is late */
    [ACTION_REFUSE] = {"refuse", FAULT_ON_PROCESS | TRAIT_LINK, PAID_BY(REFUSE)},
    [ACTION_PARTITION] = {"partition", FAULT_ON_PROCESS},
    [ACTION_HEAL] = {"heal", TRAIT_ON_PROCESS | HEALS},
    [ACTION_EXPIRE] = {"expire", FAULT_ON_PROCESS | TRAIT_LINK, PAID_BY(EXPIRE)},
    [ACTION_PAUSE] = {"pause", FAULT_ON_PROCESS, PAID_BY(PAUSE)},
    [ACTION_RESUME] = {"resume", TRAIT_ON_PROCESS | HEALS},
    [ACTION_CRASH] = {"crash", FAULT_ON_PROCESS, PAID_BY(CRASH)},
    [ACTION_RESTART] = {"restart", TRAIT_ON_PROCESS | TRAIT_HEALS, .stimulus = "start"},
    [ACTION_FAIL_ALLOC] = {"fail-alloc", FAULT_ON_PROCESS, PAID_BY(ALLOC)},

    [ACTION_FREEZE] = {"freeze", FAULT_ON_SERVER, PAID_BY(LAG)},
    [ACTION_THAW] = {"thaw", TRAIT_ON_SERVICE | TRAIT_SERVER | HEALS},
    [ACTION_LAG] = {"lag", FAULT_ON_SERVER, PAID_BY(LAG)},
    [ACTION_RESTART_SERVER] = {"restart-server", FAULT_ON_SERVER, PAID_BY(SERVER)},
    [ACTION_SWEEP] = {"sweep", TRAIT_ON_SERVICE | TRAIT_BREAKS, PAID_BY(SWEEP)},
    [ACTION_FOREIGN] = {"create", TRAIT_ON_SERVICE | TRAIT_PATH | TRAIT_BREAKS},
    [ACTION_REMOVE] = {"remove", TRAIT_ON_SERVICE | TRAIT_PATH | TRAIT_BREAKS},

    [ACTION_CLOSE] = {"close", LOCK_VERB | TRAIT_FAIR, .stimulus = "close"},
    [ACTION_OPEN] = {"open", LOCK_VERB, .stimulus = "open"},
};

const char *world_action_verb(int kind)
{
    return kind >= 0 && kind < ACTION_KINDS ? world_action_infos[kind].verb : "unknown";
}
