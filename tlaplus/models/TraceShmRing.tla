---- MODULE TraceShmRing ----
\* ShmRing, made to follow what became of the segments of one ring in a real run, which module Trace has for its sender and
\* its receiver: see docs/events.md. A segment is published where it was put, read where it was placed, and its slot given
\* back at once or, of one that was lent, where it was freed. All other steps go on by themselves, in one order: stores reach
\* the memory at once, the sender goes before the receiver, and who cannot go on sleeps until it is woken.
\*
\* action    models
\* Puts      fast/internal/shm:Endpoint.push fast/internal/shm:Endpoint.offer
\* Places    fast/internal/shm:Endpoint.pull fast/internal/shm:Endpoint.read
\* Frees     fast/internal/shm:Endpoint.taken fast/internal/shm:Endpoint.repay
EXTENDS Naturals, Sequences, FiniteSets, ShmRing, Trace

VARIABLES
  pos,    \* by rank: the events that were taken
  lent,   \* the slot that was read last is given back later
  refused \* the rank and the number of the event that is refused; <<>>: none yet

all == <<vars, pos, lent, refused>>

TraceInit == Init /\ pos = [p \in Rank |-> 0] /\ lent = FALSE /\ refused = <<>>

Left(p) == pos[p] < Len(Trace(p))
Event(p) == Trace(p)[pos[p] + 1]
Is(p, do, segment) == Left(p) /\ \E e \in {Event(p)} : e.do = do /\ e.segment = segment

Took(p) == pos' = [pos EXCEPT ![p] = pos[p] + 1]

Puts == Is("S", "put", next["S"]) /\ Publish /\ Took("S") /\ UNCHANGED lent

Places == Is("R", "placed", next["R"]) /\ Read /\ Took("R") /\ lent' = Event("R").lent

Frees == IF lent THEN Is("R", "freed", next["R"]) /\ Free /\ Took("R") /\ lent' = FALSE ELSE Free /\ UNCHANGED <<pos, lent>>

\* A part of what is read where it lies, but not the last one.
Reads == At("R", "read") /\ Is("R", "piece", next["R"]) /\ Took("R") /\ UNCHANGED <<vars, lent>>

Alone(p) == Move(p) /\ UNCHANGED <<pos, lent>>
Sender == Left("S") /\ (Puts \/ (Write /\ UNCHANGED <<pos, lent>>) \/ Alone("S"))
Receiver == ((Left("R") \/ lent) /\ (Places \/ Reads \/ Alone("R"))) \/ (At("R", "free") /\ Frees)

Able(p) ==
  CASE At(p, "asleep") \/ At(p, "done") -> FALSE
    [] At(p, "publish") -> Is(p, "put", next[p])
    [] At(p, "read") -> Is(p, "placed", next[p]) \/ Is(p, "piece", next[p])
    [] At(p, "free") -> ~lent \/ Is(p, "freed", next[p])
    [] OTHER -> Left(p)

Drains == \E p \in {IF buf["S"] # <<>> THEN "S" ELSE "R"} : Drain(p) /\ UNCHANGED <<pos, lent>>

Follow ==
  /\ refused = <<>>
  /\ IF buf["S"] # <<>> \/ buf["R"] # <<>> THEN Drains ELSE IF Able("S") THEN Sender ELSE Able("R") /\ Receiver
  /\ UNCHANGED refused

Waiting == {p \in Rank : Left(p)}

\* Who cannot go on though the ring lets it has an event that does not fit; who sleeps waits for the other one.
Guilty == IF \E p \in Waiting : ~At(p, "asleep") THEN CHOOSE p \in Waiting : ~At(p, "asleep") ELSE CHOOSE p \in Waiting : TRUE

Refuse ==
  /\ refused = <<>> /\ Waiting # {} /\ buf["S"] = <<>> /\ buf["R"] = <<>> /\ ~Able("S") /\ ~Able("R")
  /\ \E p \in {Guilty} : refused' = <<IF p = "S" THEN SenderRank ELSE ReceiverRank, pos[p] + 1>>
  /\ UNCHANGED <<vars, pos, lent>>

Over ==
  /\ (Waiting = {} /\ buf["S"] = <<>> /\ buf["R"] = <<>> /\ ~Able("S") /\ ~Able("R")) \/ refused # <<>>
  /\ UNCHANGED <<vars, pos, lent, refused>>

TraceNext == Follow \/ Refuse \/ Over

TraceSpec == TraceInit /\ [][TraceNext]_all /\ WF_all(TraceNext)

Follows == refused = <<>>

Accepts == <>(Waiting = {})
====
