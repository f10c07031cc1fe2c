---- MODULE TraceExec ----
\* Exec, made to follow the events of one call of a real run, which module Trace has, rank by rank: see docs/events.md. Each
\* event is a step of Exec, with its parameters fixed, or a part of one: a message is pushed with its last part that was
\* put, and popped with its last part that was placed. What one rank does never keeps another from doing what it could do, so
\* one order decides: the lowest rank goes on that can. If none can, an event is refused: one that does not fit what its
\* rank did before or else one that waits for what no rank does any more.
\*
\* action    models
\* Step      fast/internal/exec:EventLog.step fast/internal/exec:EventLog.list
\* Put       fast/internal/shm:Endpoint.push fast/internal/shm:Endpoint.offer fast/internal/tcp:Endpoint.prepare
\* Sent      fast/internal/shm:Endpoint.conclude fast/internal/tcp:Endpoint.push
\* Placed    fast/internal/shm:Endpoint.pull fast/internal/shm:Endpoint.read fast/internal/tcp:link.markPlaced
\* Alone     fast/internal/exec:EventLog.local fast/internal/exec:EventLog.reduce
\* Fits      fast/internal/exec:EventLog.done fast/internal/exec:EventLog.End fast/internal/exec:EventLog.begin
EXTENDS Naturals, Sequences, FiniteSets, Exec, Trace

VARIABLES
  pos,    \* by rank: the events that were taken
  open,   \* by rank: the messages of its step
  put,    \* by sender and receiver: bytes that were put
  putAt,  \* of the message in turn
  owed,   \* those of them whose memory may still be read
  got,    \* by receiver and sender: bytes that were placed
  gotAt,  \* of the message in turn
  refused \* the rank and the number of the event that is refused; <<>>: none yet

bytes == <<put, putAt, owed, got, gotAt>>
all == <<vars, pos, open, bytes, refused>>

None == [s \in Ranks |-> [d \in Ranks |-> 0]]

TraceInit ==
  /\ Init
  /\ pos = [r \in Ranks |-> 0] /\ open = [r \in Ranks |-> {}]
  /\ put = None /\ putAt = None /\ owed = None /\ got = None /\ gotAt = None
  /\ refused = <<>>

Messages(r) == {i \in InFlight(r) : ~IsLocal(Instr(r, i))}
Sends(r) == {<<Instr(r, i).peer, Instr(r, i).srcs[1]>> : i \in {j \in Messages(r) : IsSend(Instr(r, j))}}
With(in) == IF in.kind = "recv" THEN <<>> ELSE in.srcs[1]
Recvs(r) == {<<Instr(r, i).peer, Instr(r, i).dst, With(Instr(r, i))>> : i \in {j \in Messages(r) : IsRecv(Instr(r, j))}}

Whole(in) == CellBytes * IF IsSend(in) THEN Len(in.srcs[1]) ELSE Len(in.dst)
Turns(r, e) == {i \in open[r] \ done[r] : \E in \in {Instr(r, i)} :
  IsSend(in) = (e.do = "put") /\ in.peer = e.peer /\ IsTurn(r, in) /\ e.at + e.bytes <= Whole(in)}
Locals(r, e) == {i \in InFlight(r) : \E in \in {Instr(r, i)} :
  in.kind = e.do /\ in.dst = e.into /\ (e.do = "finish" \/ in.srcs = e.from)}

\* Whether e can follow what its rank did before.
Fits(r, e) ==
  CASE e.do = "begin" -> done[r] = {} /\ open[r] = {}
    [] e.do = "step" -> open[r] \subseteq done[r] /\ Sends(r) = e.sends /\ Recvs(r) = e.recvs
    [] e.do = "put" -> e.at = putAt[r][e.peer] /\ Turns(r, e) # {}
    [] e.do = "sent" -> e.bytes <= owed[r][e.peer]
    [] e.do = "placed" -> e.at = gotAt[r][e.peer] /\ \E i \in Turns(r, e) :
                            e.at + e.bytes < Whole(Instr(r, i)) \/ MayWrite(r, i, Instr(r, i))
    [] e.do = "done" -> open[r] \subseteq done[r] /\ \A d \in Ranks : owed[r][d] = 0
    [] e.do = "end" -> done[r] = Instrs(r)
    [] e.do = "failed" -> done[r] # Instrs(r)
    [] OTHER -> Locals(r, e) # {}

\* Whether others have done what it needs.
Ready(r, e) == e.do # "placed" \/ got[r][e.peer] + e.bytes <= put[e.peer][r]

Event(r) == Trace[r + 1][pos[r] + 1]
Left(r) == pos[r] < Len(Trace[r + 1])
Can(r) == Left(r) /\ \E e \in {Event(r)} : Fits(r, e) /\ Ready(r, e)

Add(f, a, b, n) == [f EXCEPT ![a][b] = f[a][b] + n]
Set(f, a, b, n) == [f EXCEPT ![a][b] = n]

Step(r) == open' = [open EXCEPT ![r] = Messages(r)] /\ UNCHANGED <<vars, bytes>>

Put(r, e) == \E i \in Turns(r, e) : \E in \in {Instr(r, i)} : \E last \in {e.at + e.bytes = Whole(in)} :
  /\ put' = Add(put, r, e.peer, e.bytes)
  /\ putAt' = Set(putAt, r, e.peer, IF last THEN 0 ELSE e.at + e.bytes)
  /\ owed' = IF e.lends THEN Add(owed, r, e.peer, e.bytes) ELSE owed
  /\ IF last THEN Push(r, i, in) ELSE UNCHANGED vars
  /\ UNCHANGED <<open, got, gotAt>>

Sent(r, e) == owed' = Set(owed, r, e.peer, owed[r][e.peer] - e.bytes) /\ UNCHANGED <<vars, open, put, putAt, got, gotAt>>

Placed(r, e) == \E i \in Turns(r, e) : \E in \in {Instr(r, i)} : \E last \in {e.at + e.bytes = Whole(in)} :
  /\ got' = Add(got, r, e.peer, e.bytes)
  /\ gotAt' = Set(gotAt, r, e.peer, IF last THEN 0 ELSE e.at + e.bytes)
  /\ IF last THEN Pop(r, i, in) ELSE UNCHANGED vars
  /\ UNCHANGED <<open, put, putAt, owed>>

Alone(r, e) ==
  /\ \E i \in {CHOOSE j \in Locals(r, e) : \A k \in Locals(r, e) : j <= k} : Local(r, i, Instr(r, i))
  /\ UNCHANGED <<open, bytes>>

Takes(r, e) ==
  /\ pos' = [pos EXCEPT ![r] = pos[r] + 1]
  /\ UNCHANGED refused
  /\ CASE e.do = "step" -> Step(r)
       [] e.do = "put" -> Put(r, e)
       [] e.do = "sent" -> Sent(r, e)
       [] e.do = "placed" -> Placed(r, e)
       [] e.do \in {"copy", "reduce", "finish"} -> Alone(r, e)
       [] OTHER -> UNCHANGED <<vars, open, bytes>>

Waiting == {r \in Ranks : Left(r)}
Misfits == {r \in Waiting : ~Fits(r, Event(r))}
Forlorn == {r \in Waiting : ~Left(Event(r).peer)} \* who fits waits for a message
Guilty == IF Misfits # {} THEN Misfits ELSE IF Forlorn # {} THEN Forlorn ELSE Waiting

Follow == \E able \in {{r \in Ranks : Can(r)}} : able # {} /\ \E r \in {Lowest(able)} : \E e \in {Event(r)} : Takes(r, e)

Refuse ==
  /\ refused = <<>> /\ Waiting # {} /\ \A r \in Ranks : ~Can(r)
  /\ \E r \in {Lowest(Guilty)} : refused' = <<r, pos[r] + 1>>
  /\ UNCHANGED <<vars, pos, open, bytes>>

Over == (Waiting = {} \/ refused # <<>>) /\ UNCHANGED <<vars, pos, open, bytes, refused>>

TraceNext == Follow \/ Refuse \/ Over

TraceSpec == TraceInit /\ [][TraceNext]_all /\ WF_all(TraceNext)

Follows == refused = <<>>

Accepts == <>(Waiting = {})
====
