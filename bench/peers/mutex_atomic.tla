---------------------------- MODULE mutex_atomic ----------------------------
(* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors *)

(* The mutex with every operation as one step: mutex_atomic.pml for TLC, action for action, so that both count the same
 * states and transitions. N clients take the lock K times each, the servers give up E sessions, and a client learns of that
 * later.
 * Contains and leaves out: what mutex_atomic.pml does.
 *
 * Scratch variables and packed bytes have no counterpart: what a client knows of itself is a function each. *)
EXTENDS Naturals, Sequences

CONSTANTS N, K, E

VARIABLES
    queue,   \* who stands where, in the order of creation: <<client, rounds that it had left>>
    left,    \* sessions that may still be given up
    at,      \* of each client: where it is
    fired,   \* its watch has fired
    gone,    \* its session is gone and it does not know
    rounds,  \* that it has left
    watches  \* the entry that it watches, or Nothing

vars == <<queue, left, at, fired, gone, rounds, watches>>

Clients == 1 .. N
Nothing == <<0, 0>>

Init ==
    /\ queue = <<>>
    /\ left = E
    /\ at = [x \in Clients |-> "idle"]
    /\ fired = [x \in Clients |-> FALSE]
    /\ gone = [x \in Clients |-> FALSE]
    /\ rounds = [x \in Clients |-> K]
    /\ watches = [x \in Clients |-> Nothing]

Place(x) == CHOOSE i \in 1 .. Len(queue) : queue[i][1] = x

Without(i) == SubSeq(queue, 1, i - 1) \o SubSeq(queue, i + 1, Len(queue))

(* Takes the client's entry out and fires the watches on it. *)
Remove(x) ==
    LET i == Place(x)
    IN  /\ queue' = Without(i)
        /\ fired' = [y \in Clients |-> fired[y] \/ (at[y] = "wait" /\ watches[y] = queue[i])]

Become(x, where) == at' = [at EXCEPT ![x] = where]

Forget(x) == watches' = [watches EXCEPT ![x] = Nothing]

Create(x) ==
    /\ at[x] = "idle" /\ rounds[x] > 0
    /\ queue' = Append(queue, <<x, rounds[x]>>)
    /\ rounds' = [rounds EXCEPT ![x] = @ - 1]
    /\ Become(x, "list")
    /\ UNCHANGED <<left, fired, gone, watches>>

List(x) ==
    /\ at[x] = "list" /\ ~gone[x]
    /\ LET i == Place(x)
       IN  IF i = 1
           THEN Become(x, "hold") /\ UNCHANGED watches
           ELSE Become(x, "watch") /\ watches' = [watches EXCEPT ![x] = queue[i - 1]]
    /\ UNCHANGED <<queue, left, fired, gone, rounds>>

Watch(x) ==
    /\ at[x] = "watch" /\ ~gone[x]
    /\ IF \E i \in 1 .. Len(queue) : queue[i] = watches[x]
       THEN Become(x, "wait") /\ UNCHANGED watches
       ELSE Become(x, "list") /\ Forget(x)
    /\ UNCHANGED <<queue, left, fired, gone, rounds>>

Wake(x) ==
    /\ at[x] = "wait" /\ fired[x] /\ ~gone[x]
    /\ fired' = [fired EXCEPT ![x] = FALSE]
    /\ Become(x, "list")
    /\ Forget(x)
    /\ UNCHANGED <<queue, left, gone, rounds>>

Release(x) ==
    /\ at[x] = "hold" /\ ~gone[x]
    /\ Remove(x)
    /\ Become(x, "idle")
    /\ UNCHANGED <<left, gone, rounds, watches>>

Expire(x) ==
    /\ left > 0 /\ at[x] # "idle" /\ ~gone[x]
    /\ Remove(x)
    /\ left' = left - 1
    /\ gone' = [gone EXCEPT ![x] = TRUE]
    /\ UNCHANGED <<at, rounds, watches>>

Learn(x) ==
    /\ gone[x]
    /\ gone' = [gone EXCEPT ![x] = FALSE]
    /\ fired' = [fired EXCEPT ![x] = FALSE]
    /\ Become(x, "idle")
    /\ Forget(x)
    /\ UNCHANGED <<queue, left, rounds>>

Next == \E x \in Clients :
    Create(x) \/ List(x) \/ Watch(x) \/ Wake(x) \/ Release(x) \/ Expire(x) \/ Learn(x)

(* At most one client holds the lock by the servers' account. *)
Alone == \A x, y \in Clients :
    at[x] = "hold" /\ ~gone[x] /\ at[y] = "hold" /\ ~gone[y] => x = y
=============================================================================
