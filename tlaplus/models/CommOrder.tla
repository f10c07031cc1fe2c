---- MODULE CommOrder ----
\* Calls on communicators that overlap: in which order their ranks may make them, what started calls do about it, and how
\* ranks that wait for each other for ever are found. A rank makes its calls in the order of its program; each communicator
\* has a queue of its own for what was started; sends and receives between two collectives are in flight beside each other.
\*
\* A collective is a barrier here, which is the most that any may wait for. A message between two ranks is on its way before
\* it is received; who sends goes on at once (Eager), or only when it was received.
\*
\* Ranks that make no progress look for rings by probes (edge chasing); who is idle may do so at any time. What the control
\* plane carries arrives, in any order. Two neighbours whose calls do not meet find out by their transport.
\*
\* action    models
\* Start     fast:Comm.start fast:Comm.enqueue
\* Call      fast:Comm.doGenerated fast:Comm.inTurn fast:Comm.drain fast:Comm.perform fast:Comm.sendRecv fast:Comm.besideOpen
\* Return    fast:Comm.perform fast:Comm.together fast:Comm.reap
\* Wait      fast:Handle.Wait
\* Take      fast:queue.take fast:Comm.work fast:Comm.post fast:Comm.makeNext
\* Push      fast/internal/exec:Executor.Post
\* Deliver   fast/internal/exec:Executor.Post
\* Gather    fast:Comm.perform
\* Disagree  fast/internal/tcp:Endpoint.reportStall fast/internal/linkbase:Endpoint.FindDisagreement fast/internal/shm:Endpoint.checkStuck fast/internal/inproc:Endpoint.disagreement
\* Expire    fast:Comm.settle fast:Comm.fail
\* Fail      fast:Comm.condemn
\* Heeded    fast:Comm.heed
\* Seek      fast/internal/deadlock:Detector.Look fast/internal/deadlock:Detector.seek
\* Pursue    fast/internal/deadlock:Detector.pursue fast/internal/deadlock:Detector.passOn fast/internal/deadlock:waitState.blocks fast/internal/deadlock:waitState.departs
\* Asked     fast/internal/deadlock:Detector.answer fast/internal/deadlock:waitState.isAt
\* Answered  fast/internal/deadlock:Detector.confirm
\* AskAgain  fast/internal/deadlock:Detector.ask
\* Forget    fast/internal/deadlock:Detector.Look
\* Condemn   fast/internal/deadlock:Detector.confirm fast:searched.Fail
EXTENDS Naturals, Sequences, FiniteSets

CONSTANTS
  Scenario,   \* which programs the ranks run
  Allowed,    \* TRUE: they are such that every call is to succeed
  Eager,      \* TRUE: who sends does not wait for the receiver
  Contexts,   \* TRUE: calls have contexts that end
  OwnQueues,  \* FALSE: what a rank has started runs one after the other on all of its communicators
  Joins,      \* FALSE: sends and receives run one after the other, too
  Heeds,      \* FALSE: a rank is taken to wait for all messages in flight, although its program goes on
  Searchers,  \* the ranks below that look for rings
  PassesOn,   \* FALSE: who gets a probe does not pass it on
  Asks,       \* FALSE: a ring is believed when it was found
  MindsMoves, \* FALSE: who is asked does not say whether it has moved
  Holds       \* FALSE: the second question does not wait for what is on its way

VARIABLES
  todo,    \* by rank: the calls of its program that are not over
  inCall,  \* by rank: it is in a call that was not started
  ready,   \* by rank and communicator: calls that were started, and wait for their turn
  now,     \* what is missing of those in progress
  moved,   \* how often the rank has gone on there
  wire,    \* by communicator: messages on their way
  fate,    \* by communicator: it was given up
  net,     \* probes
  ring,    \* by communicator and rank: the ring that it has found, from itself on
  missing, \* the ranks that have not answered
  firm,    \* all have answered once
  late,    \* what was on its way then
  fine     \* ghost: whoever was said to be in a ring was

vars == <<todo, inCall, ready, now, moved, wire, fate, net, ring, missing, firm, late, fine>>
calls == <<todo, inCall, ready, now, moved, wire>>
chase == <<net, ring, missing, firm, late>>

Ranks == 0..2
Comms == IF Scenario = 1 THEN 1..3 ELSE IF Scenario \in {2, 8} THEN 1..2 ELSE 1..1 \* those that are used
Members(c) == IF c = 1 THEN {0, 1, 2} ELSE IF c = 2 THEN {0, 1} ELSE {1, 2}

\* A call is a set of parts: a message from a rank to another one, or a collective.
All == <<3, 3>>
CallOf(c, parts) == [does |-> "call", comm |-> c, parts |-> parts]
StartOf(c, parts) == [does |-> "start", comm |-> c, parts |-> parts]
WaitFor(c) == [does |-> "wait", comm |-> c, parts |-> {}]

Program(r) ==
  CASE Scenario = 1 -> \* collectives on three communicators, in an order that all agree on
         IF r = 0 THEN <<CallOf(1, {All}), CallOf(2, {All})>>
         ELSE IF r = 1 THEN <<CallOf(1, {All}), CallOf(2, {All}), CallOf(3, {All})>>
         ELSE <<CallOf(1, {All}), CallOf(3, {All})>>
    [] Scenario = 2 -> \* started in orders that differ
         IF r = 0 THEN <<StartOf(2, {All}), StartOf(1, {All}), WaitFor(2), WaitFor(1)>>
         ELSE IF r = 1 THEN <<StartOf(1, {All}), StartOf(2, {All}), WaitFor(1), WaitFor(2)>>
         ELSE <<CallOf(1, {All})>>
    [] Scenario = 3 -> \* sends and receives, started in orders that differ
         IF r = 0 THEN <<StartOf(1, {<<0, 1>>}), StartOf(1, {<<1, 0>>}), WaitFor(1)>>
         ELSE IF r = 1 THEN <<StartOf(1, {<<1, 0>>}), StartOf(1, {<<0, 1>>}), StartOf(1, {<<1, 2>>}), WaitFor(1)>>
         ELSE <<CallOf(1, {<<1, 2>>})>>
    [] Scenario = 4 -> \* each sends to the next one and receives from the one before, at once
         IF r = 0 THEN <<CallOf(1, {<<0, 1>>, <<2, 0>>})>>
         ELSE IF r = 1 THEN <<CallOf(1, {<<1, 2>>, <<0, 1>>})>>
         ELSE <<CallOf(1, {<<2, 0>>, <<1, 2>>})>>
    [] Scenario = 5 -> \* a message goes round, twice
         IF r = 0 THEN <<CallOf(1, {<<2, 0>>}), CallOf(1, {<<0, 1>>}), CallOf(1, {<<2, 0>>})>>
         ELSE IF r = 1 THEN <<CallOf(1, {<<1, 2>>}), CallOf(1, {<<0, 1>>}), CallOf(1, {<<1, 2>>})>>
         ELSE <<CallOf(1, {<<1, 2>>}), CallOf(1, {<<2, 0>>}), CallOf(1, {<<1, 2>>}), CallOf(1, {<<2, 0>>})>>
    [] Scenario = 6 -> \* forbidden: each receives from the next one before it sends
         IF r = 0 THEN <<CallOf(1, {<<1, 0>>}), CallOf(1, {<<0, 2>>})>>
         ELSE IF r = 1 THEN <<CallOf(1, {<<2, 1>>}), CallOf(1, {<<1, 0>>})>>
         ELSE <<CallOf(1, {<<0, 2>>}), CallOf(1, {<<2, 1>>})>>
    [] Scenario = 7 -> \* forbidden: one of them receives what another one will send only after a collective
         IF r = 0 THEN <<CallOf(1, {All})>>
         ELSE IF r = 1 THEN <<CallOf(1, {<<2, 1>>}), CallOf(1, {All})>>
         ELSE <<CallOf(1, {All}), CallOf(1, {<<2, 1>>})>>
    [] Scenario = 9 -> \* all start what they send, and then what they receive
         IF r = 0 THEN <<StartOf(1, {<<0, 1>>}), StartOf(1, {<<2, 0>>}), WaitFor(1)>>
         ELSE IF r = 1 THEN <<StartOf(1, {<<1, 2>>}), StartOf(1, {<<0, 1>>}), WaitFor(1)>>
         ELSE <<StartOf(1, {<<2, 0>>}), StartOf(1, {<<1, 2>>}), WaitFor(1)>>
    [] Scenario = 10 -> \* a receive is started, and then a send made that is not
         IF r = 0 THEN <<StartOf(1, {<<2, 0>>}), CallOf(1, {<<0, 1>>}), WaitFor(1), CallOf(1, {All})>>
         ELSE IF r = 1 THEN <<StartOf(1, {<<0, 1>>}), CallOf(1, {<<1, 2>>}), StartOf(1, {All}), WaitFor(1)>>
         ELSE <<StartOf(1, {<<1, 2>>}), CallOf(1, {<<2, 0>>}), CallOf(1, {All})>>
    [] OTHER -> \* forbidden: collectives on two communicators in orders that differ
         IF r = 0 THEN <<CallOf(2, {All}), CallOf(1, {All})>>
         ELSE IF r = 1 THEN <<CallOf(1, {All}), CallOf(2, {All})>>
         ELSE <<CallOf(1, {All})>>

ByComm(x) == [r \in Ranks |-> [c \in Comms |-> x]]

Init ==
  /\ todo = [r \in Ranks |-> Program(r)] /\ inCall = [r \in Ranks |-> FALSE]
  /\ ready = ByComm(<<>>) /\ now = ByComm({}) /\ moved = ByComm(0)
  /\ wire = [c \in Comms |-> {}] /\ fate = [c \in Comms |-> FALSE]
  /\ net = {} /\ ring = ByComm(<<>>) /\ missing = ByComm({}) /\ firm = ByComm(FALSE) /\ late = ByComm({})
  /\ fine = TRUE

Over(r) == todo[r] = <<>>
Op(r) == Head(todo[r])
Idle(r, c) == ready[r][c] = <<>> /\ now[r][c] = {}

\* Messages may join those in flight, of which there is no other of the same two ranks in this direction.
MayJoin(r, c, parts) ==
  IF All \in parts \/ ~Joins THEN now[r][c] = {} ELSE All \notin now[r][c] /\ parts \cap now[r][c] = {}

\* The next call of the program is one that is started.
Start(r, op) ==
  /\ ~inCall[r] /\ op.does = "start"
  /\ ready' = IF fate[op.comm] THEN ready ELSE [ready EXCEPT ![r][op.comm] = Append(ready[r][op.comm], op.parts)]
  /\ todo' = [todo EXCEPT ![r] = Tail(todo[r])]
  /\ UNCHANGED <<inCall, now, moved, wire, fate, chase, fine>>

Call(r, op) ==
  /\ ~inCall[r] /\ op.does = "call" /\ ready[r][op.comm] = <<>> /\ MayJoin(r, op.comm, op.parts)
  /\ IF fate[op.comm]
     THEN todo' = [todo EXCEPT ![r] = Tail(todo[r])] /\ UNCHANGED <<inCall, now, moved>>
     ELSE /\ inCall' = [inCall EXCEPT ![r] = TRUE]
          /\ now' = [now EXCEPT ![r][op.comm] = now[r][op.comm] \cup op.parts]
          /\ moved' = [moved EXCEPT ![r][op.comm] = moved[r][op.comm] + 1]
          /\ UNCHANGED todo
  /\ UNCHANGED <<ready, wire, fate, chase, fine>>

Return(r, op) ==
  /\ inCall[r] /\ now[r][op.comm] \cap op.parts = {}
  /\ inCall' = [inCall EXCEPT ![r] = FALSE]
  /\ todo' = [todo EXCEPT ![r] = Tail(todo[r])]
  /\ UNCHANGED <<ready, now, moved, wire, fate, chase, fine>>

Wait(r, op) ==
  /\ op.does = "wait" /\ Idle(r, op.comm)
  /\ todo' = [todo EXCEPT ![r] = Tail(todo[r])]
  /\ UNCHANGED <<inCall, ready, now, moved, wire, fate, chase, fine>>

Take(r, c) ==
  /\ ready[r][c] # <<>> /\ MayJoin(r, c, Head(ready[r][c]))
  /\ OwnQueues \/ \A d \in Comms : now[r][d] = {}
  /\ now' = [now EXCEPT ![r][c] = now[r][c] \cup Head(ready[r][c])]
  /\ ready' = [ready EXCEPT ![r][c] = Tail(ready[r][c])]
  /\ moved' = [moved EXCEPT ![r][c] = moved[r][c] + 1]
  /\ UNCHANGED <<todo, inCall, wire, fate, chase, fine>>

\* The parts in flight without whose end the rank begins nothing more there.
Heeded(r, c) ==
  IF ~Heeds \/ All \in now[r][c] THEN now[r][c]
  ELSE {part \in now[r][c] :
    IF ready[r][c] # <<>> THEN All \in Head(ready[r][c])
    ELSE ~Over(r) /\ \E op \in {Op(r)} :
      op.comm = c /\ IF inCall[r] THEN part \in op.parts ELSE op.does = "wait" \/ (op.does = "call" /\ All \in op.parts)}

Push(r, c, part) ==
  /\ part \in now[r][c] /\ part[1] = r /\ part \notin wire[c]
  /\ wire' = [wire EXCEPT ![c] = wire[c] \cup {part}]
  /\ IF Eager
     THEN now' = [now EXCEPT ![r][c] = now[r][c] \ {part}] /\ moved' = [moved EXCEPT ![r][c] = moved[r][c] + 1]
     ELSE UNCHANGED <<now, moved>>
  /\ UNCHANGED <<todo, inCall, ready, fate, chase, fine>>

\* It has come for whom it is, who waits for it.
CanTake(c, part) == part \in wire[c] /\ part \in now[part[2]][c]

Deliver(r, c, part) ==
  /\ part \in now[r][c] /\ part[2] = r /\ part \in wire[c]
  /\ wire' = [wire EXCEPT ![c] = wire[c] \ {part}]
  /\ \E both \in {IF Eager THEN {r} ELSE {r, part[1]}} :
       /\ now' = [q \in Ranks |-> IF q \in both THEN [now[q] EXCEPT ![c] = now[q][c] \ {part}] ELSE now[q]]
       /\ moved' = [q \in Ranks |-> IF q \in both THEN [moved[q] EXCEPT ![c] = moved[q][c] + 1] ELSE moved[q]]
  /\ UNCHANGED <<todo, inCall, ready, fate, chase, fine>>

Gather(c) ==
  /\ \A r \in Members(c) : now[r][c] = {All}
  /\ now' = [r \in Ranks |-> [now[r] EXCEPT ![c] = {}]]
  /\ moved' = [r \in Ranks |-> IF r \in Members(c) THEN [moved[r] EXCEPT ![c] = moved[r][c] + 1] ELSE moved[r]]
  /\ UNCHANGED <<todo, inCall, ready, wire, fate, chase, fine>>

GiveUp(c) == fate' = [fate EXCEPT ![c] = TRUE] /\ UNCHANGED <<calls, chase>>

Between(part, r, q) == part = <<r, q>> \/ part = <<q, r>>

\* Each of two ranks waits for the other in a call that the other one is not in.
Disagree(r, q, c) ==
  /\ ~fate[c] /\ r < q
  /\ \E a \in Heeded(r, c), b \in Heeded(q, c) : Between(a, r, q) /\ Between(b, r, q) /\ a \notin now[q][c] /\ b \notin now[r][c]
  /\ wire[c] \cap {<<r, q>>, <<q, r>>} \cap now[r][c] = {} /\ wire[c] \cap {<<r, q>>, <<q, r>>} \cap now[q][c] = {}
  /\ GiveUp(c) /\ UNCHANGED fine

Expire(r, c) ==
  /\ Contexts /\ ~fate[c] /\ now[r][c] # {}
  /\ GiveUp(c) /\ UNCHANGED fine

\* A communicator that was given up ends its calls.
Fail(r, c) ==
  /\ fate[c] /\ ~Idle(r, c)
  /\ now' = [now EXCEPT ![r][c] = {}] /\ ready' = [ready EXCEPT ![r][c] = <<>>]
  /\ UNCHANGED <<todo, inCall, moved, wire, fate, chase, fine>>

Work ==
  \/ \E r \in Ranks : ~Over(r) /\ \E op \in {Op(r)} : Start(r, op) \/ Call(r, op) \/ Return(r, op) \/ Wait(r, op)
  \/ \E r \in Ranks, c \in Comms : Take(r, c) \/ Fail(r, c) \/ Expire(r, c)
  \/ \E r \in Ranks, c \in Comms : \E part \in now[r][c] : Push(r, c, part) \/ Deliver(r, c, part)
  \/ \E c \in Comms : Gather(c)
  \/ \E r \in Ranks, q \in Ranks, c \in Comms : Disagree(r, q, c)

\* The search for rings, which is one for each communicator. A hop is a rank, where it stands, and whether its call is a
\* collective; the next hop is the one that it waits for.
Waits(r, c) == IF now[r][c] = {All} THEN {q \in Members(c) : now[q][c] # {All}} ELSE {q \in Ranks : \E part \in Heeded(r, c) : Between(part, r, q)}
Hop(r, c) == <<r, moved[r][c], now[r][c] = {All}>>
Probe(what, c, to, path) == [what |-> what, comm |-> c, to |-> to, path |-> path]
Sent(what, c, to, path) == {Probe(what, c, q, path) : q \in to}
Mine(r) == {m \in net : (m.path[1])[1] = r}
Ring(path) == {(path[k])[1] : k \in 1..Len(path)}
Place(path, r) == CHOOSE k \in 1..Len(path) : (path[k])[1] = r
IsAt(hop, c) == hop = Hop(hop[1], c) /\ Heeded(hop[1], c) # {}

Seek(r, c) ==
  /\ r < Searchers /\ ~fate[c] /\ Heeded(r, c) # {} /\ ring[r][c] = <<>> /\ ~\E m \in Mine(r) : m.comm = c
  /\ net' = net \cup Sent("seek", c, Waits(r, c), <<Hop(r, c)>>)
  /\ UNCHANGED <<calls, fate, ring, missing, firm, late, fine>>

\* Whether the hop waits for r until r goes on; and whether what was proved of an algorithm says nothing about it.
Blocks(hop, r, c) == hop[3] \/ ~\E part \in now[r][c] : Between(part, r, hop[1])
Leaves(hop, r, c) == ~hop[3] \/ now[r][c] # {All}

Drops(m, r, c, last) ==
  \/ fate[c] \/ Heeded(r, c) = {} \/ ~Blocks(last, r, c)
  \/ Len(m.path) = 1 /\ ~Leaves(last, r, c)
  \/ Leaves(last, r, c) /\ last[1] < (m.path[1])[1]

Found(m, r, c) ==
  /\ ring' = [ring EXCEPT ![r][c] = m.path]
  /\ missing' = [missing EXCEPT ![r][c] = IF Asks THEN Ring(m.path) \ {r} ELSE {}]
  /\ firm' = [firm EXCEPT ![r][c] = ~Asks]
  /\ net' = (net \ {m}) \cup (IF Asks THEN Sent("ask", c, Ring(m.path) \ {r}, m.path) ELSE {})
  /\ UNCHANGED late

PassOn(m, r, c) ==
  /\ net' = (net \ {m}) \cup Sent("seek", c, Waits(r, c), Append(m.path, Hop(r, c)))
  /\ UNCHANGED <<ring, missing, firm, late>>

Drop(m) == net' = net \ {m} /\ UNCHANGED <<ring, missing, firm, late>>

PursueAt(m, r, c) ==
  IF Drops(m, r, c, m.path[Len(m.path)]) THEN Drop(m)
  ELSE IF r \notin Ring(m.path) /\ PassesOn THEN PassOn(m, r, c)
  ELSE IF ring[r][c] = <<>> /\ IsAt(m.path[1], c) /\ (m.path[1])[1] = r THEN Found(m, r, c)
  ELSE Drop(m)

Pursue(m) ==
  /\ m.what = "seek"
  /\ PursueAt(m, m.to, m.comm)
  /\ UNCHANGED <<calls, fate, fine>>

\* The question whether this rank still stands where the ring says, which it answers if so.
Next1(path, k) == IF k = Len(path) THEN path[1] ELSE path[k + 1]
Stands(path, r, c) == \E k \in {Place(path, r)} :
  /\ Heeded(r, c) # {} /\ (~MindsMoves \/ path[k] = Hop(r, c))
  /\ (Next1(path, k))[1] \in Waits(r, c) /\ Blocks(path[k - 1], r, c)

Asked(m) ==
  /\ m.what = "ask"
  /\ net' = (net \ {m}) \cup (IF ~fate[m.comm] /\ Stands(m.path, m.to, m.comm)
                               THEN {Probe("answer", m.comm, m.to, m.path)} ELSE {})
  /\ UNCHANGED <<calls, fate, ring, missing, firm, late, fine>>

Answered(m) ==
  /\ m.what = "answer" \* to the first of the path, by the one that it names
  /\ net' = net \ {m}
  /\ missing' = [missing EXCEPT ![(m.path[1])[1]][m.comm] = missing[(m.path[1])[1]][m.comm] \ {m.to}]
  /\ UNCHANGED <<calls, fate, ring, firm, late, fine>>

HasAll(r, c) == ring[r][c] # <<>> /\ missing[r][c] = {} /\ IsAt(ring[r][c][1], c) /\ ~fate[c]

\* All have answered once. Later, when what was on its way then has come, they are asked again.
Settle(r, c) ==
  /\ HasAll(r, c) /\ ~firm[r][c]
  /\ firm' = [firm EXCEPT ![r][c] = TRUE]
  /\ late' = [late EXCEPT ![r][c] = {part \in wire[c] : CanTake(c, part)}]
  /\ missing' = [missing EXCEPT ![r][c] = {r}] \* itself: it has not asked
  /\ UNCHANGED <<calls, fate, net, ring, fine>>

AskAgain(r, c) ==
  /\ firm[r][c] /\ missing[r][c] = {r}
  /\ ~Holds \/ ~\E part \in late[r][c] : CanTake(c, part)
  /\ missing' = [missing EXCEPT ![r][c] = Ring(ring[r][c]) \ {r}]
  /\ net' = net \cup Sent("ask", c, Ring(ring[r][c]) \ {r}, ring[r][c])
  /\ UNCHANGED <<calls, fate, ring, firm, late, fine>>

\* Somebody does not answer, or this rank itself has gone on.
Forget(r, c) ==
  /\ ring[r][c] # <<>> /\ ~\E m \in Mine(r) : m.comm = c
  /\ fate[c] \/ (missing[r][c] \notin {{}, {r}}) \/ ~IsAt(ring[r][c][1], c)
  /\ ring' = [ring EXCEPT ![r][c] = <<>>] /\ missing' = [missing EXCEPT ![r][c] = {}]
  /\ firm' = [firm EXCEPT ![r][c] = FALSE] /\ late' = [late EXCEPT ![r][c] = {}]
  /\ UNCHANGED <<calls, fate, net, fine>>

\* A rank cannot go on before the next one of the ring does.
IsStuck(path, c) == \A k \in 1..Len(path) :
  \E r \in {(path[k])[1]}, q \in {(Next1(path, k))[1]} :
    /\ q \in Waits(r, c)
    /\ IF now[r][c] = {All} THEN now[q][c] # {All}
       ELSE \E part \in Heeded(r, c) : Between(part, r, q) /\ ~CanTake(c, part) /\ part \notin now[q][c]

Condemn(r, c) ==
  /\ HasAll(r, c) /\ firm[r][c]
  /\ fine' = (fine /\ IsStuck(ring[r][c], c))
  /\ GiveUp(c)

Searches(r) ==
  \/ \E c \in Comms : Seek(r, c) \/ Settle(r, c) \/ AskAgain(r, c) \/ Forget(r, c) \/ Condemn(r, c)
  \/ \E m \in Mine(r) : Pursue(m) \/ Asked(m) \/ Answered(m)

AllDone == \A r \in Ranks : Over(r)
Finished == AllDone /\ UNCHANGED vars

Next == Work \/ (\E r \in Ranks : Searches(r)) \/ Finished

\* Each goes on by itself: one that looks for rings again and again does not keep the others from anything.
Spec == Init /\ [][Next]_vars /\ WF_vars(Work) /\ WF_vars(Searches(0)) /\ WF_vars(Searches(1)) /\ WF_vars(Searches(2))

TypeOK == \A r \in Ranks, c \in Comms : (now[r][c] # {} => r \in Members(c)) /\ (All \in now[r][c] => now[r][c] = {All})

\* Whoever is said to wait in a ring does, and will for ever.
Accuracy == fine

\* What is allowed succeeds.
Harmless == Allowed => \A c \in Comms : ~fate[c]

\* Every call ends, by its result or an error.
Ends == <>AllDone
====
