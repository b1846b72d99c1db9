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
#define KIND(name, what) .verb = name, .traits = (what)
#define PAID_BY(name) .fault = WORLD_FAULT_##name + 1

const struct action_info world_action_infos[ACTION_KINDS] = {
    [ACTION_APPLY] = {KIND("apply", WORK)},
    [ACTION_COMMIT] = {KIND("commit-late", WORK | TRAIT_LINK)},
    [ACTION_CATCH_UP] = {KIND("catch-up", WORK | TRAIT_SERVER)},
    [ACTION_DELIVER] = {KIND("deliver", WORK)},
    [ACTION_CONNECT] = {KIND("connect", WORK | TRAIT_LINK)},
    [ACTION_BURY] = {KIND("bury", WORK | TRAIT_LINK)},
    [ACTION_HANG_UP] = {KIND("hang-up", WORK | TRAIT_LINK)},
    [ACTION_GIVE_UP] = {KIND("give-up", WORK | TRAIT_LINK)},
    [ACTION_RECEIVE] = {KIND("receive", WORK)},
    [ACTION_HANDSHAKE] = {KIND("handshake", WORK)},
    [ACTION_REARM] = {KIND("rearm", WORK)},
    [ACTION_LINGER] = {KIND("linger", STEP)},
    [ACTION_FIRE] = {KIND("fire", TRAIT_SYSTEM | TRAIT_FAIR)},
    [ACTION_ADVANCE] = {KIND("advance", TRAIT_SYSTEM | TRAIT_FAIR)},

    /* No owner has to want a lock, to give up, or to come back. */
    [ACTION_ACQUIRE] = {KIND("acquire", LOCK_VERB), .stimulus = "acquire"},
    [ACTION_RELEASE] = {KIND("release", LOCK_VERB | TRAIT_FAIR), .stimulus = "release"},
    [ACTION_CANCEL] = {KIND("cancel", LOCK_VERB | TRAIT_BREAKS), PAID_BY(CANCEL), .stimulus = "cancel"},
    [ACTION_WRITE] = {KIND("write", LOCK_VERB | TRAIT_FAIR)},
    [ACTION_REVOCABLE] = {KIND("revocable", LOCK_VERB | TRAIT_FAIR), .stimulus = "revocable"},
    [ACTION_REVOKE] = {KIND("revoke", LOCK_VERB | TRAIT_FAIR), .stimulus = "revoke"},
    [ACTION_STOP] = {KIND("stop", VERB | TRAIT_FAIR), .stimulus = "stop"},
    [ACTION_START] = {KIND("start", VERB), .stimulus = "start"},

    [ACTION_CUT] = {KIND("cut", FAULT_ON_PROCESS | TRAIT_LINK), PAID_BY(LOSS)}, /* LATE, if it is late */
    [ACTION_REFUSE] = {KIND("refuse", FAULT_ON_PROCESS | TRAIT_LINK), PAID_BY(REFUSE)},
    [ACTION_PARTITION] = {KIND("partition", FAULT_ON_PROCESS)},
    [ACTION_HEAL] = {KIND("heal", TRAIT_ON_PROCESS | HEALS)},
    [ACTION_EXPIRE] = {KIND("expire", FAULT_ON_PROCESS | TRAIT_LINK), PAID_BY(EXPIRE)},
    [ACTION_PAUSE] = {KIND("pause", FAULT_ON_PROCESS), PAID_BY(PAUSE)},
    [ACTION_RESUME] = {KIND("resume", TRAIT_ON_PROCESS | HEALS)},
    [ACTION_CRASH] = {KIND("crash", FAULT_ON_PROCESS), PAID_BY(CRASH)},
    [ACTION_RESTART] = {KIND("restart", TRAIT_ON_PROCESS | TRAIT_HEALS), .stimulus = "start"},
    [ACTION_FAIL_ALLOC] = {KIND("fail-alloc", FAULT_ON_PROCESS), PAID_BY(ALLOC)},

    [ACTION_FREEZE] = {KIND("freeze", FAULT_ON_SERVER), PAID_BY(LAG)},
    [ACTION_THAW] = {KIND("thaw", TRAIT_ON_SERVICE | TRAIT_SERVER | HEALS)},
    [ACTION_LAG] = {KIND("lag", FAULT_ON_SERVER), PAID_BY(LAG)},
    [ACTION_RESTART_SERVER] = {KIND("restart-server", FAULT_ON_SERVER), PAID_BY(SERVER)},
    [ACTION_SWEEP] = {KIND("sweep", TRAIT_ON_SERVICE | TRAIT_BREAKS), PAID_BY(SWEEP)},
    [ACTION_FOREIGN] = {KIND("create", TRAIT_ON_SERVICE | TRAIT_PATH | TRAIT_BREAKS)},
    [ACTION_REMOVE] = {KIND("remove", TRAIT_ON_SERVICE | TRAIT_PATH | TRAIT_BREAKS)},

    [ACTION_CLOSE] = {KIND("close", LOCK_VERB | TRAIT_FAIR), .stimulus = "close"},
    [ACTION_OPEN] = {KIND("open", LOCK_VERB), .stimulus = "open"},
    [ACTION_RMDIR] = {KIND("rmdir", TRAIT_ON_SERVICE | TRAIT_BREAKS), PAID_BY(RMDIR)},
    [ACTION_EVICT] = {KIND("evict", FAULT_ON_PROCESS), PAID_BY(EVICT)},
};

const char *world_action_verb(int kind)
{
    return kind >= 0 && kind < ACTION_KINDS ? world_action_infos[kind].verb : "unknown";
}
