/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The mutex with requests and replies under way: N clients (at most 5) take the lock once, the servers give up EXP
 * sessions, LOSS times all that is under way to and from a client is lost.
 * Contains: sending, serving and receiving of each request as steps of their own, one request of a client at a time;
 * sequence numbers; watch events among the replies; expiry in one step. Asserts that at most one client believes that it
 * holds the lock, of those whose session lives.
 * Leaves out: connections (a client learns of a loss as of a reply, and part of what is under way never survives), new
 * sessions, own nodes found again, clean-up of what a lost create left behind, timers, cancelled attempts, the lock library.
 *
 * The servers are one process without a state of its own: each request, loss and expiry is one d_step. Patterns take the
 * place of variables, and what a client need not remember it does not have. */
#ifndef N
#define N 3
#endif
#ifndef EXP
#define EXP 1
#endif
#ifndef LOSS
#define LOSS 1
#endif

mtype = { CREATE, CHILDREN, EXISTS, DELETE, OK, NONODE, WATCH, LOST, EXPIRED };
chan req[N] = [2] of { mtype, byte };
chan rsp[N] = [3] of { mtype, byte };
byte sequence = 1;
byte node[N];       /* what client i has created, 0 = nothing */
byte watch_on[N];   /* what client i watches, 0 = nothing */
byte gone;          /* bit i: the session of client i is */
byte holding;       /* bit i: client i believes that it holds the lock */
byte exp_left = EXP, loss_left = LOSS;

/* Scratch. Hidden variables are no part of a state, but a search on several cores cannot have them: it gets a 0 in each at
 * the end of a step. */
#ifdef CORES
mtype m;
byte a, k, best;
#define END ; m = 0; a = 0; k = 0; best = 0
#else
hidden mtype m;
hidden byte a, k, best;
#define END
#endif

#define BIT(x) (1 << x)

/* Fires the watches on best, those of live sessions. */
#define FIRE \
    k = 0; \
    do \
    :: k < N -> \
        if \
        :: best && watch_on[k] == best -> watch_on[k] = 0; \
            if :: !(gone & BIT(k)) -> rsp[k]!WATCH,best :: else fi \
        :: else \
        fi; k++ \
    :: else -> break \
    od

#define DRAIN(x) \
    do :: rsp[x]?_,_ :: empty(rsp[x]) -> break od; \
    do :: req[x]?_,_ :: empty(req[x]) -> break od

#define SERVE(x) \
    :: d_step { req[x]?m,a -> \
        if \
        :: gone & BIT(x) \
        :: else -> \
            if \
            :: m == CREATE -> node[x] = sequence; sequence++; rsp[x]!OK,node[x] \
            :: m == CHILDREN -> best = 0; k = 0; \
                do \
                :: k < N -> if :: node[k] < node[x] && node[k] > best -> best = node[k] :: else fi; k++ \
                :: else -> break \
                od; \
                if :: node[x] == 0 -> rsp[x]!NONODE,0 :: else -> rsp[x]!OK,best fi \
            :: m == EXISTS -> k = 0; \
                do :: k < N && node[k] != a -> k++ :: else -> break od; \
                if :: k < N -> watch_on[x] = a; rsp[x]!OK,a :: else -> rsp[x]!NONODE,a fi \
            :: m == DELETE -> best = node[x]; node[x] = 0; FIRE; rsp[x]!OK,0 \
            fi \
        fi END } \
    :: d_step { exp_left > 0 && !(gone & BIT(x)) -> exp_left--; gone = gone | BIT(x); watch_on[x] = 0; \
        best = node[x]; node[x] = 0; FIRE; DRAIN(x); rsp[x]!EXPIRED,0 END } \
    :: d_step { loss_left > 0 && !(gone & BIT(x)) && (nempty(req[x]) || nempty(rsp[x])) -> \
        loss_left--; DRAIN(x); rsp[x]!LOST,0 END }

active proctype servers() {
end:
    do
    SERVE(0)
#if N > 1
    SERVE(1)
#endif
#if N > 2
    SERVE(2)
#endif
#if N > 3
    SERVE(3)
#endif
#if N > 4
    SERVE(4)
#endif
    od
}

/* _pid is 1 for the first client. */
#define ME (_pid - 1)

active [N] proctype client() {
    byte v;
start:
    req[ME]!CREATE,0;
created:
    if
    :: rsp[ME]?OK,_
    :: rsp[ME]?EXPIRED,_ -> goto done
    :: rsp[ME]?LOST,_
    :: rsp[ME]?NONODE,_ -> goto created
    :: rsp[ME]?WATCH,_ -> goto created
    fi;
list:
    req[ME]!CHILDREN,0;
listed:
    if
    :: rsp[ME]?OK,v
    :: rsp[ME]?NONODE,_ -> goto start
    :: rsp[ME]?EXPIRED,_ -> goto done
    :: rsp[ME]?LOST,_ -> goto list
    :: rsp[ME]?WATCH,_ -> goto listed
    fi;
    if :: v == 0 -> goto hold :: else fi;
    req[ME]!EXISTS,v;
    v = 0;
    if
    :: rsp[ME]?OK,_
    :: rsp[ME]?NONODE,_ -> goto list
    :: rsp[ME]?EXPIRED,_ -> goto done
    :: rsp[ME]?LOST,_ -> goto list
    :: rsp[ME]?WATCH,_ -> goto list
    fi;
wait:
    if
    :: rsp[ME]?OK,_ -> goto wait
    :: rsp[ME]?NONODE,_ -> goto wait
    :: rsp[ME]?EXPIRED,_ -> goto done
    :: rsp[ME]?LOST,_ -> goto list
    :: rsp[ME]?WATCH,_ -> goto list
    fi;
hold:
    atomic { holding = holding | BIT(ME); assert((gone & BIT(ME)) || !(holding & ~gone & ~BIT(ME))) };
    holding = holding & ~BIT(ME);
remove:
    req[ME]!DELETE,0;
removed:
    if
    :: rsp[ME]?OK,_
    :: rsp[ME]?NONODE,_ -> goto removed
    :: rsp[ME]?EXPIRED,_
    :: rsp[ME]?LOST,_ -> goto remove
    :: rsp[ME]?WATCH,_ -> goto removed
    fi;
done:
    skip
}
