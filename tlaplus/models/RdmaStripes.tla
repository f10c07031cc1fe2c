---- MODULE RdmaStripes ----
\* Long messages of one rank to another that are written to their places over several queue pairs, here called lanes, of which lane 0 is
\* the main one. The sender asks where a message is to go, and the receiver answers when it is in turn. Parts of the message go
\* over all lanes, and after its last part each lane has an immediate of its own: what comes on one lane says nothing of the
\* others. The packets of a lane reach the memory in any order, but its immediates come after all that was posted there before.
\*
\* All messages lie in the same memory of the sender, and are to go to the same memory of the receiver, as in calls that follow each
\* other. A device reads a part when it writes it, and not when it was posted. So it is seen when a part is read too late,
\* written too early, or not there when the message is taken. That a write is over, its sender learns at once here; the questions
\* and answers are those of the FIFO that RdmaImm is.
\*
\* action   models
\* Ask      fast/internal/rdma:Endpoint.writeSegment
\* Grant    fast/internal/rdma:Endpoint.beginSegment fast/internal/rdma:Endpoint.answer
\* Part     fast/internal/rdma:Endpoint.takeAnswer fast/internal/rdma:Endpoint.writePart fast/internal/rdma:link.pairAfter
\* Close    fast/internal/rdma:Endpoint.stepDirect fast/internal/rdma:Endpoint.closeDirect
\* Done     fast/internal/rdma:link.sendIsRead
\* Imm      fast/internal/rdma:Endpoint.poll fast/internal/rdma:Endpoint.handleImmediate fast/internal/rdma:queuePair.completePart
\* Take     fast/internal/rdma:Endpoint.pull fast/internal/rdma:link.partsArrived
\* Look     fast/internal/rdma:rails.watch fast/internal/rdma:rails.sleep
EXTENDS Naturals, Sequences, FiniteSets

CONSTANTS
  Lanes, Parts,   \* of a message
  Messages,
  MindsMain,      \* FALSE: a message is taken when all has come that goes over the other lanes
  MindsBeside,    \* FALSE: it is taken when all has come that goes over the main one
  AwaitsPlace,    \* FALSE: parts are written as soon as their place was asked for
  MindsTurn,      \* FALSE: a place is told before the message before was taken out of it
  EndsLast,       \* FALSE: the immediate of a lane is posted before its last part
  AwaitsGone,     \* FALSE: a send is over when its parts were posted
  LooksAtAll,     \* FALSE: the receiver looks at what has come on the main lane alone
  Naps            \* TRUE: a rank that waits looks again and again

VARIABLES
  asked,   \* messages whose place was asked for
  granted, \* those whose place was told
  placed,  \* parts that were posted of the message in turn
  closed,  \* lanes whose immediate for it was posted
  done,    \* messages that the sender is done with, which fills its memory with the next one
  wire,    \* by lane: the parts that are on their way, and 0 for an immediate
  come,    \* by lane: immediates that have come
  next,    \* messages that were taken
  mem,     \* the message of each part in the receiver's memory, plus 1
  nap,     \* changes with each look
  fine     \* ghost: what was taken is what was sent, in its order

vars == <<asked, granted, placed, closed, done, wire, come, next, mem, nap, fine>>

Lane == 0..(Lanes - 1)
LaneOf(b) == (b - 1) % Lanes

Init ==
  /\ asked = 0 /\ granted = 0 /\ placed = 0 /\ closed = {} /\ done = 0 /\ next = 0
  /\ wire = [k \in Lane |-> <<>>] /\ come = [k \in Lane |-> 0]
  /\ mem = [b \in 1..Parts |-> 0]
  /\ nap = 0 /\ fine = TRUE

Ask ==
  /\ asked = done /\ asked < Messages
  /\ asked' = asked + 1
  /\ UNCHANGED <<granted, placed, closed, done, wire, come, next, mem, nap, fine>>

Grant ==
  /\ granted < asked /\ (~MindsTurn \/ granted = next)
  /\ granted' = granted + 1
  /\ UNCHANGED <<asked, placed, closed, done, wire, come, next, mem, nap, fine>>

MayWrite == asked > done /\ (~AwaitsPlace \/ granted = asked)

Part ==
  /\ MayWrite /\ placed < Parts
  /\ wire' = [wire EXCEPT ![LaneOf(placed + 1)] = Append(wire[LaneOf(placed + 1)], placed + 1)]
  /\ placed' = placed + 1
  /\ UNCHANGED <<asked, granted, closed, done, come, next, mem, nap, fine>>

Close(k) ==
  /\ MayWrite /\ k \notin closed /\ (~EndsLast \/ placed = Parts)
  /\ wire' = [wire EXCEPT ![k] = Append(wire[k], 0)]
  /\ closed' = closed \cup {k}
  /\ UNCHANGED <<asked, granted, placed, done, come, next, mem, nap, fine>>

\* Nothing of the message in turn is read any more where it lies.
Gone == \A k \in Lane : \A i \in 1..Len(wire[k]) : wire[k][i] = 0

Done ==
  /\ asked > done /\ placed = Parts /\ closed = Lane /\ (~AwaitsGone \/ Gone)
  /\ done' = done + 1 /\ placed' = 0 /\ closed' = {}
  /\ UNCHANGED <<asked, granted, wire, come, next, mem, nap, fine>>

\* A part is read where it lies, and reaches the memory.
Packet(k, i) ==
  /\ wire[k][i] # 0
  /\ mem' = [mem EXCEPT ![wire[k][i]] = done + 1]
  /\ wire' = [wire EXCEPT ![k] = SubSeq(wire[k], 1, i - 1) \o SubSeq(wire[k], i + 1, Len(wire[k]))]
  /\ UNCHANGED <<asked, granted, placed, closed, done, come, next, nap, fine>>

\* An immediate comes, if the receiver looks at its lane.
Imm(k) ==
  /\ wire[k] # <<>> /\ wire[k][1] = 0 /\ (LooksAtAll \/ k = 0)
  /\ wire' = [wire EXCEPT ![k] = Tail(wire[k])]
  /\ come' = [come EXCEPT ![k] = come[k] + 1]
  /\ UNCHANGED <<asked, granted, placed, closed, done, next, mem, nap, fine>>

IsWhole == \A k \in Lane : (IF k = 0 THEN ~MindsMain ELSE ~MindsBeside) \/ come[k] > next

Take ==
  /\ next < granted /\ IsWhole
  /\ fine' = (fine /\ \A b \in 1..Parts : mem[b] = next + 1)
  /\ next' = next + 1
  /\ UNCHANGED <<asked, granted, placed, closed, done, wire, come, mem, nap>>

Ended == done = Messages /\ next = Messages

Look ==
  /\ Naps /\ ~Ended
  /\ nap' = 1 - nap
  /\ UNCHANGED <<asked, granted, placed, closed, done, wire, come, next, mem, fine>>

Sends == Ask \/ Part \/ (\E k \in Lane : Close(k)) \/ Done
Receives == Grant \/ Take
Moves(k) == (\E i \in 1..Len(wire[k]) : Packet(k, i)) \/ Imm(k)

Finished == Ended /\ UNCHANGED vars

Next == Sends \/ Receives \/ (\E k \in Lane : Moves(k)) \/ Look \/ Finished

\* Each rank goes on by itself, and so does each lane.
Spec == Init /\ [][Next]_vars /\ WF_vars(Sends) /\ WF_vars(Receives) /\ \A k \in Lane : WF_vars(Moves(k))

TypeOK == done <= asked /\ granted <= asked /\ placed <= Parts /\ next <= granted /\ asked <= done + 1

\* Every step is one of a FIFO of one message, or none.
Refines == fine /\ done <= next + 1

\* Every call returns.
Ends == <>Ended
====
