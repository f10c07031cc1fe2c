---- MODULE TraceAbort ----
\* Abort, made to follow how the ranks of a real run gave their first communicator up and agreed on who is gone, which module
\* Trace has, rank by rank: see docs/events.md. Each event fixes a step of Abort, or is said of one that was made. What
\* is not written down goes on by itself, in one order, as soon as no event can be taken: that a process whose file has ended
\* died (Dies), that the agreement begins, and its messages. An event that can never be taken is refused.
\*
\* action    models
\* Lost      fast:Comm.lost
\* Heard     fast:Comm.handleNotice fast:Comm.condemn
\* Fated     fast:Comm.end
\* Told      fast:Comm.tell
\* Agreed    fast/internal/membership:Member.outcome fast/internal/membership:shrinking.round
\* Fits      fast:Comm.failed fast:Comm.conclude
EXTENDS Naturals, Sequences, FiniteSets, Abort, Trace

VARIABLES
  pos,    \* by rank: the events that were taken
  fated,  \* by rank: it is written down that the communicator has ended
  said,   \* who has told whose notice
  refused \* the rank and the number of the event that is refused; <<>>: none yet

all == <<vars, pos, fated, said, refused>>

TraceInit == Init /\ pos = All(0) /\ fated = All(FALSE) /\ said = {} /\ refused = <<>>

Event(r) == Trace[r + 1][pos[r] + 1]
Left(r) == pos[r] < Len(Trace[r + 1])
Waiting == {r \in Ranks : Left(r)}

\* Whether e can follow what its rank did before.
Fits(r, e) ==
  CASE e.do = "lost" -> e.rank \in Dies /\ e.rank \notin gone[r]
    [] e.do = "fate" -> ~fated[r]
    [] e.do \in {"tell", "failed"} -> fated[r]
    [] e.do = "agree" -> fated[r] /\ (decided[r] => value[r] = e.gone)
    [] OTHER -> TRUE

\* Whether others have done what it needs: who is at fault has died, or has given up itself.
Ready(r, e) ==
  CASE e.do = "lost" -> ~alive[e.rank]
    [] e.do = "heard" -> <<e.from, e.by>> \in said
    [] e.do = "fate" -> \A d \in e.blames : ~alive[d] \/ status[d] # "call"
    [] e.do = "agree" -> status[r] = "agree" /\ decided[r]
    [] OTHER -> TRUE

Can(r) == Left(r) /\ \E e \in {Event(r)} : Fits(r, e) /\ Ready(r, e)

Lost(r, e) == Detect(r, e.rank) /\ UNCHANGED <<fated, said>>
Heard(r) == IF note[r] THEN Hear(r) /\ UNCHANGED <<fated, said>> ELSE UNCHANGED <<vars, fated, said>> \* again
Fated(r) ==
  /\ fated' = [fated EXCEPT ![r] = TRUE]
  /\ IF status[r] = "call" THEN GivesUp(r) ELSE UNCHANGED vars
  /\ UNCHANGED said
Told(r, e) == said' = said \cup {<<r, e.by>>} /\ UNCHANGED <<vars, fated>>
Agreed(r) == Enter(r) /\ UNCHANGED <<fated, said>>

Takes(r, e) ==
  /\ pos' = [pos EXCEPT ![r] = pos[r] + 1]
  /\ UNCHANGED refused
  /\ CASE e.do = "lost" -> Lost(r, e)
       [] e.do = "heard" -> Heard(r)
       [] e.do = "fate" -> Fated(r)
       [] e.do = "tell" -> Told(r, e)
       [] e.do = "agree" -> Agreed(r)
       [] OTHER -> UNCHANGED <<vars, fated, said>>

Lowest(ranks) == CHOOSE r \in ranks : \A q \in ranks : r <= q

\* What is not written down, by rank or for a message, and in which order it is done.
Ends1(r) == alive[r] /\ r \in Dies /\ ~Left(r)
Starts(r) == alive[r] /\ status[r] = "failed" /\ fated[r] /\ Left(r) /\ Event(r).do = "agree"
Coordinates(r) == Agrees(r) /\ Coordinator(r) = r
Reports(r) == Agrees(r) /\ Coordinator(r) # r /\ Coordinator(r) # told[r]
Proposes(r) == Coordinates(r) /\ ~proposed[r] /\ Others(r) \subseteq Said(r)
Decides(r) == Coordinates(r) /\ proposed[r] /\ Others(r) \subseteq acks[r]
Tells1(r) == alive[r] /\ decided[r] /\ Coordinator(r) # r /\ Coordinator(r) # told[r]
Goes(r) == Ends1(r) \/ Starts(r) \/ Reports(r) \/ Proposes(r) \/ Decides(r) \/ Tells1(r)

Key(m) == ((m.to * N + m.from) * N + m.round) * 4 + (CASE m.kind = "state" -> 0 [] m.kind = "propose" -> 1 [] m.kind = "adopted" -> 2 [] OTHER -> 3)
Passes(m) == IF alive[m.to] THEN TakeState(m) \/ TakePropose(m) \/ TakeAdopted(m) \/ TakeDecide(m) ELSE Lose(m)

Rest ==
  /\ \A r \in Ranks : ~Can(r)
  /\ IF net # {} THEN \E m \in {CHOOSE m \in net : \A o \in net : Key(m) <= Key(o)} : Passes(m)
     ELSE \E able \in {{r \in Ranks : Goes(r)}} : able # {} /\ \E r \in {Lowest(able)} :
            IF Ends1(r) THEN Crash(r) ELSE IF Starts(r) THEN Start(r) ELSE IF Reports(r) THEN SendState(r)
            ELSE IF Proposes(r) THEN Propose(r) ELSE IF Decides(r) THEN Decide(r) ELSE TellNext(r)
  /\ UNCHANGED <<pos, fated, said, refused>>

Follow == \E able \in {{r \in Ranks : Can(r)}} : able # {} /\ \E r \in {Lowest(able)} : \E e \in {Event(r)} : Takes(r, e)

\* Whom to blame: a rank whose event does not fit, or has heard what is not told any more, or any that waits.
TellsOf(r, by) == {k \in (pos[r] + 1)..Len(Trace[r + 1]) : Trace[r + 1][k].do = "tell" /\ Trace[r + 1][k].by = by}
Misfits == {r \in Waiting : ~Fits(r, Event(r))}
Invents(e) == e.do = "heard" /\ TellsOf(e.from, e.by) = {}
Inventors == {r \in Waiting : Invents(Event(r))}
Guilty == IF Misfits # {} THEN Misfits ELSE IF Inventors # {} THEN Inventors ELSE Waiting

Refuse ==
  /\ refused = <<>> /\ Waiting # {} /\ net = {} /\ \A r \in Ranks : ~Can(r) /\ ~Goes(r)
  /\ \E r \in {Lowest(Guilty)} : refused' = <<r, pos[r] + 1>>
  /\ UNCHANGED <<vars, pos, fated, said>>

Over ==
  /\ (Waiting = {} /\ net = {} /\ \A r \in Ranks : ~Goes(r)) \/ refused # <<>>
  /\ UNCHANGED <<vars, pos, fated, said, refused>>

TraceNext == Follow \/ Rest \/ Refuse \/ Over

TraceSpec == TraceInit /\ [][TraceNext]_all /\ WF_all(TraceNext)

Follows == refused = <<>>

Accepts == <>(Waiting = {})
====
