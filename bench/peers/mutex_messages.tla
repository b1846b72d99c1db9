--------------------------- MODULE mutex_messages ---------------------------
(* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors *)

(* The mutex with requests and replies under way: mutex_messages.pml for TLC, statement for statement, so that both count the
 * same states and transitions. N clients take the lock once, the servers give up EXP sessions, LOSS times all that is under
 * way to and from a client is lost.
 * Contains and leaves out: what mutex_messages.pml does.
 *
 * As there, clients that have come to their end go in the order of their numbers, the last one first. *)
EXTENDS Naturals, Sequences

CONSTANTS N, EXP, LOSS

VARIABLES
    req, rsp,             \* what is under way, of each client: <<what, number>>
    sequence,             \* the next sequence number
    node,                 \* what each client has created, 0 = nothing
    watchOn,              \* what it watches, 0 = nothing
    gone,                 \* clients whose session is
    holding,              \* clients that believe that they hold the lock
    expLeft, lossLeft,
    at,                   \* of each client: where it is
    before,               \* what it has read of who is before it, 0 = nobody
    present               \* clients that have not gone

vars == <<req, rsp, sequence, node, watchOn, gone, holding, expLeft, lossLeft, at, before, present>>

Clients == 1 .. N

Init ==
    /\ req = [x \in Clients |-> <<>>]
    /\ rsp = [x \in Clients |-> <<>>]
    /\ sequence = 1
    /\ node = [x \in Clients |-> 0]
    /\ watchOn = [x \in Clients |-> 0]
    /\ gone = {}
    /\ holding = {}
    /\ expLeft = EXP
    /\ lossLeft = LOSS
    /\ at = [x \in Clients |-> "start"]
    /\ before = [x \in Clients |-> 0]
    /\ present = N

(* ---- the servers ---- *)

Fires(k, which) == which # 0 /\ watchOn[k] = which

(* What the clients are sent when the watches on a node fire, in a world where these sessions are gone. *)
Fired(which, dead) ==
    [k \in Clients |-> IF Fires(k, which) /\ k \notin dead THEN Append(rsp[k], <<"WATCH", which>>) ELSE rsp[k]]

NoLonger(which) == [k \in Clients |-> IF Fires(k, which) THEN 0 ELSE watchOn[k]]

Reply(x, what, number) == rsp' = [rsp EXCEPT ![x] = Append(@, <<what, number>>)]

Below(x) ==
    LET less == {node[k] : k \in Clients} \cap (0 .. node[x] - 1)
    IN  CHOOSE most \in less \cup {0} : \A other \in less : other <= most

ServeCreate(x) ==
    /\ node' = [node EXCEPT ![x] = sequence]
    /\ sequence' = sequence + 1
    /\ Reply(x, "OK", sequence)
    /\ UNCHANGED watchOn

ServeChildren(x) ==
    /\ IF node[x] = 0 THEN Reply(x, "NONODE", 0) ELSE Reply(x, "OK", Below(x))
    /\ UNCHANGED <<node, sequence, watchOn>>

ServeExists(x, which) ==
    /\ IF \E k \in Clients : node[k] = which
       THEN watchOn' = [watchOn EXCEPT ![x] = which] /\ Reply(x, "OK", which)
       ELSE UNCHANGED watchOn /\ Reply(x, "NONODE", which)
    /\ UNCHANGED <<node, sequence>>

ServeDelete(x) ==
    /\ node' = [node EXCEPT ![x] = 0]
    /\ watchOn' = NoLonger(node[x])
    /\ rsp' = [Fired(node[x], gone) EXCEPT ![x] = Append(@, <<"OK", 0>>)]
    /\ UNCHANGED sequence

Serve(x) ==
    /\ req[x] # <<>>
    /\ req' = [req EXCEPT ![x] = Tail(@)]
    /\ IF x \in gone
       THEN UNCHANGED <<rsp, sequence, node, watchOn>>
       ELSE CASE Head(req[x])[1] = "CREATE" -> ServeCreate(x)
              [] Head(req[x])[1] = "CHILDREN" -> ServeChildren(x)
              [] Head(req[x])[1] = "EXISTS" -> ServeExists(x, Head(req[x])[2])
              [] Head(req[x])[1] = "DELETE" -> ServeDelete(x)
    /\ UNCHANGED <<gone, holding, expLeft, lossLeft, at, before, present>>

Expire(x) ==
    /\ expLeft > 0 /\ x \notin gone
    /\ expLeft' = expLeft - 1
    /\ gone' = gone \cup {x}
    /\ node' = [node EXCEPT ![x] = 0]
    /\ watchOn' = [NoLonger(node[x]) EXCEPT ![x] = 0]
    /\ rsp' = [Fired(node[x], gone \cup {x}) EXCEPT ![x] = <<<<"EXPIRED", 0>>>>]
    /\ req' = [req EXCEPT ![x] = <<>>]
    /\ UNCHANGED <<sequence, holding, lossLeft, at, before, present>>

Lose(x) ==
    /\ lossLeft > 0 /\ x \notin gone /\ Len(req[x]) + Len(rsp[x]) > 0
    /\ lossLeft' = lossLeft - 1
    /\ req' = [req EXCEPT ![x] = <<>>]
    /\ rsp' = [rsp EXCEPT ![x] = <<<<"LOST", 0>>>>]
    /\ UNCHANGED <<sequence, node, watchOn, gone, holding, expLeft, at, before, present>>

(* ---- a client ---- *)

Become(x, where) == at' = [at EXCEPT ![x] = where]

Send(x, where, what, number, then) ==
    /\ at[x] = where /\ Len(req[x]) < 2
    /\ req' = [req EXCEPT ![x] = Append(@, <<what, number>>)]
    /\ Become(x, then)
    /\ UNCHANGED <<rsp, sequence, node, watchOn, gone, holding, expLeft, lossLeft, before, present>>

(* Where each answer leads. *)
Ways == [
    created |-> [OK |-> "list", NONODE |-> "created", WATCH |-> "created", LOST |-> "list", EXPIRED |-> "done"],
    listed |-> [OK |-> "decide", NONODE |-> "start", WATCH |-> "listed", LOST |-> "list", EXPIRED |-> "done"],
    asked |-> [OK |-> "wait", NONODE |-> "list", WATCH |-> "list", LOST |-> "list", EXPIRED |-> "done"],
    wait |-> [OK |-> "wait", NONODE |-> "wait", WATCH |-> "list", LOST |-> "list", EXPIRED |-> "done"],
    removed |-> [OK |-> "done", NONODE |-> "removed", WATCH |-> "removed", LOST |-> "remove", EXPIRED |-> "done"]]

Receive(x) ==
    /\ at[x] \in DOMAIN Ways /\ rsp[x] # <<>>
    /\ rsp' = [rsp EXCEPT ![x] = Tail(@)]
    /\ LET answer == Head(rsp[x])
       IN  /\ Become(x, Ways[at[x]][answer[1]])
           /\ before' = IF at[x] = "listed" /\ answer[1] = "OK" THEN [before EXCEPT ![x] = answer[2]] ELSE before
    /\ UNCHANGED <<req, sequence, node, watchOn, gone, holding, expLeft, lossLeft, present>>

(* What concerns nobody else. *)
Inside(x) ==
    \/ /\ at[x] = "decide"
       /\ Become(x, IF before[x] = 0 THEN "hold" ELSE "ask")
       /\ UNCHANGED <<before, holding>>
    \/ /\ at[x] = "forget"
       /\ Become(x, "asked")
       /\ before' = [before EXCEPT ![x] = 0]
       /\ UNCHANGED holding
    \/ /\ at[x] = "hold"
       /\ Become(x, "held")
       /\ holding' = holding \cup {x}
       /\ UNCHANGED before
    \/ /\ at[x] = "held"
       /\ Become(x, "remove")
       /\ holding' = holding \ {x}
       /\ UNCHANGED before
    \/ /\ at[x] = "done"
       /\ Become(x, "ended")
       /\ UNCHANGED <<before, holding>>

Go ==
    /\ present > 0 /\ at[present] = "ended"
    /\ present' = present - 1
    /\ UNCHANGED <<req, rsp, sequence, node, watchOn, gone, holding, expLeft, lossLeft, at, before>>

Next ==
    \/ \E x \in Clients :
        \/ Serve(x) \/ Expire(x) \/ Lose(x)
        \/ Send(x, "start", "CREATE", 0, "created")
        \/ Send(x, "list", "CHILDREN", 0, "listed")
        \/ Send(x, "ask", "EXISTS", before[x], "forget")
        \/ Send(x, "remove", "DELETE", 0, "removed")
        \/ Receive(x)
        \/ Inside(x) /\ UNCHANGED <<req, rsp, sequence, node, watchOn, gone, expLeft, lossLeft, present>>
    \/ Go

(* At most one client believes that it holds the lock, of those whose session lives. *)
Alone == \A x, y \in holding \ gone : x = y
=============================================================================
