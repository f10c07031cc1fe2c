---- MODULE RdmaImm ----
\* RDMA writes with immediates over a reliable connection, between ranks "S" and "R", each of which has slots of memory that the
\* other one writes into. A message is one segment here. Its packets reach the memory in any order, also before those of
\* messages that were posted earlier; but its immediate comes after all of them, in the order of the posts, and takes one
\* receive of the queue. That slots are free is said in bulk, by an immediate without bytes, for which there are receives that
\* segments never take. The device tells later that a write is over, and has room for as many that are not as there are slots.
\*
\* The numbers of immediates are counted modulo Modulus. Ranks count on here; what they compare is taken modulo it.
\*
\* A queue pair may break at any moment: what was posted is lost. Its own rank learns of it, because its receives are flushed; the other
\* one by a write that is not answered, and one that waits for long writes nothing to have one. Unless Naps is set, that a
\* rank which waits looks again and again is left out.
\*
\* This is the FIFO that Exec assumes, with Slots as its capacity: a message enters it when it is posted, and leaves it when
\* it is taken, so that what is in it is known from sent and next.
\*
\* action   models
\* Post     fast/internal/rdma:Endpoint.writeSegment fast/internal/rdma:Endpoint.write fast/internal/rdma:credits.room fast/internal/rdma:queuePair.canWrite
\* Imm      fast/internal/rdma:Endpoint.handleImmediate fast/internal/rdma:ring.arrive fast/internal/rdma:credits.free
\* Ack      fast/internal/rdma:queuePair.completeWrites
\* Take     fast/internal/rdma:Endpoint.beginSegment fast/internal/rdma:link.place fast/internal/rdma:Endpoint.freeSlot
\* Tell     fast/internal/rdma:Endpoint.flushControl fast/internal/rdma:ring.owesCredits fast/internal/rdma:Endpoint.writeImmediate
\* Repost   fast/internal/rdma:queuePair.replenish
\* Ahead    fast/internal/rdma:ahead
\* Learn    fast/internal/rdma:link.handleError fast/internal/linkbase:Endpoint.diagnose
EXTENDS Naturals, Sequences, FiniteSets

CONSTANTS
  Slots, Batch,   \* slots, and how many of them are said to be free at a time
  Receives,       \* that are posted at first
  Reposts,        \* how many are posted again at a time
  Modulus,
  Packets,        \* of a message
  FromS, FromR,   \* messages
  MayBreak,       \* TRUE: a queue pair may break
  MindsRoom,      \* FALSE: a slot is written again before it was said to be free
  MindsAcks,      \* FALSE: writes are posted though as many are not over as there are slots to send from
  AwaitsImm,      \* FALSE: a message is taken when the first of its packets is there
  TakesFirst,     \* FALSE: a slot is said to be free before it is read
  Reserves,       \* FALSE: who says that slots are free needs a free slot of the other one's
  Wraps,          \* FALSE: numbers are compared as they are
  Probes,         \* FALSE: a rank that waits writes nothing
  Naps            \* TRUE: a rank that waits looks again and again

VARIABLES
  sent,   \* by rank: messages that it has posted
  freed,  \* the number up to which it knows slots to be free
  come,   \* messages whose immediates have come to it
  next,   \* those that it has taken
  told,   \* those of which it has said so
  begun,  \* writes that it has posted
  over,   \* those that are over, as far as it knows
  wire,   \* those that are on their way
  mem,    \* its slots: the message of each packet, plus 1
  posted, \* receives that are there for what comes to it
  used,   \* those that were consumed and not posted again
  broken, \* ranks whose queue pairs are
  failed, \* ranks that know
  nap,    \* by rank: changes with each look
  rnr,    \* ghost: an immediate has come for which there was no receive
  fine    \* ghost: what was taken is what was sent, in its order

vars == <<sent, freed, come, next, told, begun, over, wire, mem, posted, used, broken, failed, nap, rnr, fine>>

Rank == {"S", "R"}
Other(p) == IF p = "S" THEN "R" ELSE "S"
All(x) == [p \in Rank |-> x]
Messages(p) == IF p = "S" THEN FromS ELSE FromR

Init ==
  /\ sent = All(0) /\ freed = All(0) /\ come = All(0) /\ next = All(0) /\ told = All(0) /\ begun = All(0) /\ over = All(0)
  /\ wire = All(<<>>) /\ mem = All([s \in 0..(Slots - 1) |-> [b \in 1..Packets |-> 0]])
  /\ posted = All(Receives) /\ used = All(0)
  /\ broken = {} /\ failed = {} /\ nap = All(0) /\ rnr = FALSE /\ fine = TRUE

Lives(p) == p \notin failed
Ahead(a, b) == (a + Modulus - b) % Modulus
Room(p) == Slots - Ahead(sent[p] % Modulus, freed[p])
CanWrite(p) == ~MindsAcks \/ begun[p] - over[p] < Slots

\* Rank p posts a write. Who does so when a queue pair is broken is not answered.
Writes(p, kind, n, packets) ==
  /\ begun' = [begun EXCEPT ![p] = begun[p] + 1]
  /\ wire' = IF broken # {} THEN wire
             ELSE [wire EXCEPT ![p] = Append(wire[p], [kind |-> kind, n |-> n, missing |-> packets])]

Post(p) ==
  /\ Lives(p) /\ sent[p] < Messages(p) /\ CanWrite(p) /\ (~MindsRoom \/ Room(p) > 0)
  /\ Writes(p, "segment", sent[p], 1..Packets)
  /\ sent' = [sent EXCEPT ![p] = sent[p] + 1]
  /\ UNCHANGED <<freed, come, next, told, over, mem, posted, used, broken, failed, nap, rnr, fine>>

\* A packet reaches the memory.
Packet(p, k, b) ==
  /\ b \in (wire[p][k]).missing
  /\ \E n \in {(wire[p][k]).n} : mem' = [mem EXCEPT ![Other(p)][n % Slots][b] = n + 1]
  /\ wire' = [wire EXCEPT ![p][k] = [kind |-> "segment", n |-> (wire[p][k]).n, missing |-> (wire[p][k]).missing \ {b}]]
  /\ UNCHANGED <<sent, freed, come, next, told, begun, over, posted, used, broken, failed, nap, rnr, fine>>

Later(imm, known) == IF Wraps \/ imm > known THEN imm ELSE known

\* The immediate of p's first write comes to q.
Imm(p, q) ==
  /\ wire[p] # <<>> /\ (wire[p][1]).missing = {}
  /\ wire' = [wire EXCEPT ![p] = Tail(wire[p])]
  /\ posted' = [posted EXCEPT ![q] = IF posted[q] = 0 THEN 0 ELSE posted[q] - 1]
  /\ rnr' = (rnr \/ posted[q] = 0)
  /\ used' = [used EXCEPT ![q] = used[q] + 1]
  /\ IF (wire[p][1]).kind = "segment" THEN come' = [come EXCEPT ![q] = come[q] + 1] /\ UNCHANGED freed
     ELSE freed' = [freed EXCEPT ![q] = Later((wire[p][1]).n, freed[q])] /\ UNCHANGED come
  /\ UNCHANGED <<sent, next, told, begun, over, mem, broken, failed, nap, fine>>

\* The device says that all writes are over that have reached the other one.
Ack(p) ==
  /\ broken = {} /\ over[p] < begun[p] - Len(wire[p])
  /\ over' = [over EXCEPT ![p] = begun[p] - Len(wire[p])]
  /\ UNCHANGED <<sent, freed, come, next, told, begun, wire, mem, posted, used, broken, failed, nap, rnr, fine>>

IsThere(p) == IF AwaitsImm THEN next[p] < come[p] ELSE \E b \in 1..Packets : mem[p][next[p] % Slots][b] = next[p] + 1

Take(p) ==
  /\ Lives(p) /\ next[p] < Messages(Other(p)) /\ IsThere(p)
  /\ fine' = (fine /\ \A b \in 1..Packets : mem[p][next[p] % Slots][b] = next[p] + 1)
  /\ next' = [next EXCEPT ![p] = next[p] + 1]
  /\ UNCHANGED <<sent, freed, come, told, begun, over, wire, mem, posted, used, broken, failed, nap, rnr>>

Free(p) == IF TakesFirst THEN next[p] ELSE come[p]

Tell(p) ==
  /\ Lives(p) /\ Free(p) >= told[p] + Batch /\ CanWrite(p) /\ (Reserves \/ Room(p) > 0)
  /\ Writes(p, "freed", Free(p) % Modulus, {})
  /\ told' = [told EXCEPT ![p] = Free(p)]
  /\ UNCHANGED <<sent, freed, come, next, over, mem, posted, used, broken, failed, nap, rnr, fine>>

Repost(p) ==
  /\ Lives(p) /\ used[p] >= Reposts
  /\ posted' = [posted EXCEPT ![p] = posted[p] + used[p]]
  /\ used' = [used EXCEPT ![p] = 0]
  /\ UNCHANGED <<sent, freed, come, next, told, begun, over, wire, mem, broken, failed, nap, rnr, fine>>

Over(p) == sent[p] = Messages(p) /\ next[p] = Messages(Other(p))
Ended(p) == ~Lives(p) \/ Over(p)

Break(p) ==
  /\ MayBreak /\ broken = {}
  /\ broken' = {p}
  /\ wire' = All(<<>>)
  /\ UNCHANGED <<sent, freed, come, next, told, begun, over, mem, posted, used, failed, nap, rnr, fine>>

Learn(p) ==
  /\ broken # {} /\ Lives(p) /\ (p \in broken \/ over[p] < begun[p] \/ (Probes /\ ~Over(p)))
  /\ failed' = failed \cup {p}
  /\ UNCHANGED <<sent, freed, come, next, told, begun, over, wire, mem, posted, used, broken, nap, rnr, fine>>

Look(p) ==
  /\ Naps /\ ~Ended(p)
  /\ nap' = [nap EXCEPT ![p] = 1 - nap[p]]
  /\ UNCHANGED <<sent, freed, come, next, told, begun, over, wire, mem, posted, used, broken, failed, rnr, fine>>

Acts(p) == Post(p) \/ Take(p) \/ Tell(p) \/ Repost(p)
Moves(p) == (\E k \in 1..Len(wire[p]) : \E b \in 1..Packets : Packet(p, k, b)) \/ Imm(p, Other(p)) \/ Ack(p)

Finished == (\A p \in Rank : Ended(p)) /\ UNCHANGED vars

Next == (\E p \in Rank : Acts(p) \/ Moves(p) \/ Learn(p) \/ Look(p) \/ Break(p)) \/ Finished

\* Each rank goes on by itself, and so does what its device has to do.
Spec == Init /\ [][Next]_vars /\ \A p \in Rank : WF_vars(Acts(p)) /\ WF_vars(Moves(p)) /\ WF_vars(Learn(p))

TypeOK == \A p \in Rank : sent[p] <= Messages(p) /\ next[p] <= come[p] + (IF AwaitsImm THEN 0 ELSE 1) /\ begun[p] >= over[p]

\* There is always a receive for an immediate.
NoRNR == ~rnr

\* The device has room for what is posted.
NoOverflow == \A p \in Rank : begun[p] - over[p] <= Slots

\* Every step is one of the FIFO, or none.
Refines == fine /\ \A p \in Rank : sent[p] - next[Other(p)] <= Slots

\* Nobody fails but for a queue pair that broke.
Harmless == failed # {} => broken # {}

\* Every call returns.
Ends == \A p \in Rank : <>Ended(p)
====
