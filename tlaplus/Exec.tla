---- MODULE Exec ----
\* The executor: the ranks of a schedule, each of which carries out its instructions in whatever order the schedule
\* leaves open, over a FIFO of bounded capacity per ordered pair of ranks. Modules Schedule and CollSpec are generated.
\*
\* An instruction is in flight from when all that it waits for is complete until it is complete itself: a send reads its
\* cells, and a receive writes to its own, at any time in between. Messages are sent and received whole here; ShmRing and
\* TcpStream show that segments, slots and partial writes make no difference.
\*
\* action    models
\* Push      fast/internal/shm:Endpoint.push fast/internal/tcp:Endpoint.push fast/internal/inproc:Endpoint.push fast:Call.Send
\* Pop       fast/internal/shm:Endpoint.pull fast/internal/tcp:Endpoint.pull fast/internal/inproc:Endpoint.pull fast:Call.Recv fast:Call.RecvReduce
\* Meet      verify:checker.channelCapacities
\* Local     fast:Call.Copy fast:Call.Reduce fast:Call.Finish
\* InFlight  fast:Call.Exchange gen:builder.runStep
\* Looks     fast/internal/shm:Endpoint.advance fast/internal/tcp:Endpoint.advance fast/internal/inproc:Endpoint.advance
EXTENDS Naturals, Sequences, FiniteSets, Schedule, CollSpec

CONSTANTS
  Capacity,       \* messages that a FIFO holds; 0: both ends have to meet
  JoinSteps,      \* FALSE: a rank does not wait for what was before
  HonorAfterSend, \* FALSE: a receive may overwrite what was not sent yet
  KeepOperands,   \* FALSE: rank 0 mixes up the two operands of its receive-reduces
  InOrder,        \* FALSE: the message that was sent last is received first
  Lossless,       \* FALSE: messages get lost
  Once,           \* FALSE: a message is received again and again
  LooksAtAll      \* FALSE: a rank looks again and again at the first of its instructions in flight, and at no other

VARIABLES
  done, \* by rank: the instructions that are complete
  mem,  \* by rank and cell: values
  chan  \* by sender and receiver: messages on their way

vars == <<done, mem, chan>>

Instrs(r) == 1..Lengths[r + 1]
IsSend(in) == in.kind = "send"
IsRecv(in) == in.kind = "recv" \/ in.kind = "recv-reduce"
IsLocal(in) == ~IsSend(in) /\ ~IsRecv(in)

TypeOK ==
  /\ \A r \in Ranks : done[r] \subseteq Instrs(r)
  /\ \A s \in Ranks, d \in Ranks : Len(chan[s][d]) <= Capacity

Init ==
  /\ done = [r \in Ranks |-> {}]
  /\ mem = [r \in Ranks |-> Initial[r + 1]]
  /\ chan = [s \in Ranks |-> [d \in Ranks |-> <<>>]]

Waits(r, i) == IF JoinSteps THEN Instr(r, i).after ELSE {}

InFlight(r) == {i \in Instrs(r) \ done[r] : Waits(r, i) \subseteq done[r]}

Looks(r) == IF LooksAtAll THEN InFlight(r) ELSE {i \in InFlight(r) : \A j \in InFlight(r) : i <= j}

\* Messages between two ranks take turns.
IsTurn(r, in) == in.prior = 0 \/ in.prior \in done[r]

MayWrite(r, in) == ~HonorAfterSend \/ in.afterSend = 0 \/ in.afterSend \in done[r]

Read(r, cells) == [k \in 1..Len(cells) |-> mem[r][cells[k]]]

Write(m, cells, values) ==
  [c \in 1..Len(m) |-> IF \E k \in 1..Len(cells) : cells[k] = c
                       THEN values[CHOOSE k \in 1..Len(cells) : cells[k] = c] ELSE m[c]]

\* A reduction of two trees, in prefix notation.
Reduced(a, b) == <<0>> \o a \o b

ReceivedFirst(r, in) == in.receivedFirst = (KeepOperands \/ r # 0)

Received(r, in, msg) ==
  IF in.kind = "recv" THEN msg
  ELSE LET with == Read(r, in.srcs[1])
       IN [k \in 1..Len(msg) |-> IF ReceivedFirst(r, in) THEN Reduced(msg[k], with[k]) ELSE Reduced(with[k], msg[k])]

Place(r, in, values) == mem' = [mem EXCEPT ![r] = Write(mem[r], in.dst, values)]

Complete(r, i) == done' = [done EXCEPT ![r] = done[r] \cup {i}]

Push(r, i, in) ==
  /\ IsSend(in) /\ IsTurn(r, in) /\ Len(chan[r][in.peer]) < Capacity
  /\ chan' = IF Lossless THEN [chan EXCEPT ![r][in.peer] = Append(chan[r][in.peer], Read(r, in.srcs[1]))] ELSE chan
  /\ Complete(r, i)
  /\ UNCHANGED mem

First(q) == IF InOrder THEN q[1] ELSE q[Len(q)]
Rest(q) == IF ~Once THEN q ELSE IF InOrder THEN Tail(q) ELSE SubSeq(q, 1, Len(q) - 1)

Pop(r, i, in) ==
  /\ IsRecv(in) /\ IsTurn(r, in) /\ MayWrite(r, in) /\ Len(chan[in.peer][r]) > 0
  /\ \E values \in {Received(r, in, First(chan[in.peer][r]))} : Place(r, in, values)
  /\ chan' = [chan EXCEPT ![in.peer][r] = Rest(chan[in.peer][r])]
  /\ Complete(r, i)

\* Without room for a message, a send, instruction i of rank s, and its receive complete together.
Meet(s, i, send, r, j, recv) ==
  /\ send.peer = r /\ IsTurn(s, send)
  /\ IsRecv(recv) /\ recv.peer = s /\ IsTurn(r, recv) /\ MayWrite(r, recv)
  /\ \E values \in {Received(r, recv, Read(s, send.srcs[1]))} : Place(r, recv, values)
  /\ done' = [done EXCEPT ![s] = done[s] \cup {i}, ![r] = done[r] \cup {j}]
  /\ UNCHANGED chan

Meetings(s, i, send) ==
  /\ IsSend(send)
  /\ \E j \in Looks(send.peer) : \E recv \in {Instr(send.peer, j)} : Meet(s, i, send, send.peer, j, recv)

RECURSIVE Folded(_, _, _)
Folded(r, srcs, n) == \* the first n operands, from left to right
  IF n = 1 THEN Read(r, srcs[1])
  ELSE LET left == Folded(r, srcs, n - 1)
           right == Read(r, srcs[n])
       IN [k \in 1..Len(right) |-> Reduced(left[k], right[k])]

Made(r, in) ==
  IF in.kind = "finish" THEN [k \in 1..Len(in.dst) |-> <<1>> \o mem[r][in.dst[k]]]
  ELSE Folded(r, in.srcs, Len(in.srcs)) \* a copy has one operand

Local(r, i, in) ==
  /\ IsLocal(in)
  /\ \E values \in {Made(r, in)} : Place(r, in, values)
  /\ Complete(r, i)
  /\ UNCHANGED chan

AllDone == \A r \in Ranks : done[r] = Instrs(r)

\* A look in vain is no end, so that what a rank never looks at is no deadlock.
Look == ~LooksAtAll /\ UNCHANGED vars

Finished == AllDone /\ UNCHANGED vars

Next ==
  \/ \E r \in Ranks : \E i \in Looks(r) : \E in \in {Instr(r, i)} : Push(r, i, in) \/ Pop(r, i, in) \/ Local(r, i, in)
  \/ Capacity = 0 /\ \E s \in Ranks : \E i \in Looks(s) : \E send \in {Instr(s, i)} : Meetings(s, i, send)
  \/ Look \/ Finished

Spec == Init /\ [][Next]_vars /\ WF_vars(Next)

\* No two instructions in flight touch the same cell, unless both only read it. A receive that comes after a send of the
\* same cells is the one exception.
Cells(seq) == {seq[k] : k \in 1..Len(seq)}
Written(in) == Cells(in.dst)
Touched(in) == Written(in) \cup UNION {Cells(in.srcs[k]) : k \in 1..Len(in.srcs)}
NoRace == \A r \in Ranks : \E flying \in {InFlight(r)} :
  \A i \in flying : \E in \in {Instr(r, i)} : \E written \in {Written(in)} :
    \A j \in flying \ {i, in.afterSend} : \E other \in {Instr(r, j)} :
      other.afterSend = i \/ written \cap Touched(other) = {}

\* What a tree is made of.
Leaves(v) == SelectSeq(v, LAMBDA x : x > 1)
Ascending(seq) == \A k \in 1..(Len(seq) - 1) : seq[k] < seq[k + 1]

Keeps(r, p) ==
  LET v == mem[r][p.cell] IN
  IF ~p.fold THEN \E x \in p.terms : v = <<x>>
  ELSE /\ Len(v) > 0
       /\ v[1] = 1 /\ \A k \in 2..Len(v) : v[k] # 1 \* finished, once, and last
       /\ Len(Leaves(v)) = Cardinality(p.terms) /\ Cells(Leaves(v)) = p.terms
       /\ RankOrder => Ascending(Leaves(v))

Promises(r) == Cells(Promise[r + 1])

Result == AllDone =>
  /\ \A r \in Ranks : \A p \in Promises(r) : Keeps(r, p)
  /\ SameTree => \A r \in Ranks, s \in Ranks : \A p \in Promises(r), q \in Promises(s) :
       (p.fold /\ q.fold /\ p.terms = q.terms) => mem[r][p.cell] = mem[s][q.cell]
  /\ \A r \in Ranks : \A c \in 1..Len(mem[r]) :
       c \in Free[r + 1] \/ (\E p \in Promises(r) : p.cell = c) \/ mem[r][c] = Initial[r + 1][c]

\* Nothing is left on its way.
Drained == AllDone => \A s \in Ranks, d \in Ranks : chan[s][d] = <<>>

Ends == <>AllDone
====
