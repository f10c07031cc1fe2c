---- MODULE Exec ----
\* The executor: the ranks of a schedule, each of which carries out its instructions in whatever order the schedule
\* leaves open, over a FIFO of bounded capacity per ordered pair of ranks. Modules Schedule and CollSpec are generated.
\*
\* An instruction is in flight from when all that it waits for is complete until it is complete itself: a send reads its
\* cells, and a receive writes to its own, at any time in between. A message goes in segments of so many cells: where Segment
\* is more than it has, it goes whole. ShmRing and TcpStream show that slots and partial writes make no difference.
\*
\* What a channel promises (ARCHITECTURE.md) is Capacity = 1 with Posted, and messages of more than a segment: then nothing
\* of a message goes before its receive is in flight, and no more than one segment of it is on its way.
\*
\* If Polls is set, a rank looks at its instructions in flight in turn, again and again for as long as anything can still
\* happen somewhere. Then who waits goes on and on, and that a call ends is more than that nothing gets stuck: it needs
\* that each rank goes on by itself, and that it comes to look at each of its messages.
\*
\* action    models
\* Push      fast/internal/shm:Endpoint.push fast/internal/tcp:Endpoint.push fast/internal/inproc:Endpoint.push fast/internal/exec:Call.Send
\* Pop       fast/internal/shm:Endpoint.pull fast/internal/tcp:Endpoint.pull fast/internal/inproc:Endpoint.pull fast/internal/exec:Call.Recv fast/internal/exec:Call.RecvReduce
\* Meet      verify:checker.channelCapacities
\* IsAwaited verify:checker.moveEdges
\* Local     fast/internal/exec:Call.Copy fast/internal/exec:Call.Reduce fast/internal/exec:Call.Finish
\* InFlight  fast/internal/exec:Call.Exchange gen:builder.runStep
\* Turn      fast/internal/shm:Endpoint.advance fast/internal/linkbase:Endpoint.advance fast/internal/inproc:Endpoint.advance
EXTENDS Naturals, Sequences, FiniteSets, Schedule, CollSpec

CONSTANTS
  Capacity,       \* segments that a FIFO holds; 0: both ends have to meet, and messages go whole
  Segment,        \* cells of a message that go at once, at most
  Posted,         \* TRUE: nothing of a message goes before its receive is in flight, and its turn has come
  JoinSteps,      \* FALSE: a rank does not wait for what was before
  HonorAfterSend, \* FALSE: a receive may overwrite what was not sent yet
  PartByPart,     \* FALSE: a receive waits for all of the send whose cells it overwrites
  KeepOperands,   \* FALSE: rank 0 mixes up the two operands of its receive-reduces
  InOrder,        \* FALSE: the message that was sent last is received first
  Lossless,       \* FALSE: messages get lost
  Once,           \* FALSE: a message is received again and again
  Polls,          \* TRUE: ranks look at their messages in turn; FALSE: what can happen does, in any order
  LooksAtAll,     \* FALSE: a rank never looks at the last one of several instructions in flight
  Starved         \* ranks that need not go on though they can

VARIABLES
  done,  \* by rank: the instructions that are complete
  moved, \* by rank and instruction: the cells of its message that were sent or received
  mem,   \* by rank and cell: values
  chan,  \* by sender and receiver: segments on their way
  eye    \* by rank: the instruction that it looks at; 0: none yet

vars == <<done, moved, mem, chan, eye>>

Instrs(r) == 1..Lengths[r + 1]
IsSend(in) == in.kind = "send"
IsRecv(in) == in.kind = "recv" \/ in.kind = "recv-reduce"
IsLocal(in) == ~IsSend(in) /\ ~IsRecv(in)

\* The cells of a message at either end.
Own(in) == IF IsSend(in) THEN in.srcs[1] ELSE in.dst
Length(in) == IF IsLocal(in) THEN 0 ELSE Len(Own(in))

TypeOK ==
  /\ \A r \in Ranks : done[r] \subseteq Instrs(r)
  /\ \A s \in Ranks, d \in Ranks : Len(chan[s][d]) <= Capacity

Init ==
  /\ done = [r \in Ranks |-> {}]
  /\ moved = [r \in Ranks |-> [i \in Instrs(r) |-> 0]]
  /\ mem = [r \in Ranks |-> Initial[r + 1]]
  /\ chan = [s \in Ranks |-> [d \in Ranks |-> <<>>]]
  /\ eye = [r \in Ranks |-> 0]

Waits(r, i) == IF JoinSteps THEN Instr(r, i).after ELSE {}

InFlight(r) == {i \in Instrs(r) \ done[r] : Waits(r, i) \subseteq done[r]}

\* Messages between two ranks take turns.
IsTurn(r, in) == in.prior = 0 \/ in.prior \in done[r]

\* How far the message of instruction i is after the next segment, and the cells of that one among its own.
Upto(r, i, in) == IF moved[r][i] + Segment < Length(in) THEN moved[r][i] + Segment ELSE Length(in)
Part(r, i, in, cells) == SubSeq(cells, moved[r][i] + 1, Upto(r, i, in))

MayWrite(r, i, in) == IF ~HonorAfterSend \/ in.afterSend = 0 THEN TRUE
                      ELSE in.afterSend \in done[r] \/ (PartByPart /\ moved[r][in.afterSend] >= Upto(r, i, in))

Read(r, cells) == [k \in 1..Len(cells) |-> mem[r][cells[k]]]

Write(m, cells, values) ==
  [c \in 1..Len(m) |-> IF \E k \in 1..Len(cells) : cells[k] = c
                       THEN values[CHOOSE k \in 1..Len(cells) : cells[k] = c] ELSE m[c]]

\* A reduction of two trees, in prefix notation.
Reduced(a, b) == <<0>> \o a \o b

ReceivedFirst(r, in) == in.receivedFirst = (KeepOperands \/ r # 0)

\* What segment msg of a message makes of the cells that it is for.
Received(r, i, in, msg) ==
  IF in.kind = "recv" THEN msg
  ELSE LET with == Read(r, Part(r, i, in, in.srcs[1]))
       IN [k \in 1..Len(msg) |-> IF ReceivedFirst(r, in) THEN Reduced(msg[k], with[k]) ELSE Reduced(with[k], msg[k])]

Place(r, cells, values) == mem' = [mem EXCEPT ![r] = Write(mem[r], cells, values)]

Complete(r, i) == done' = [done EXCEPT ![r] = done[r] \cup {i}] /\ UNCHANGED eye

\* The next segment of the message of instruction i has gone.
Goes(r, i, in) ==
  /\ moved' = [moved EXCEPT ![r][i] = Upto(r, i, in)]
  /\ IF Upto(r, i, in) = Length(in) THEN Complete(r, i) ELSE UNCHANGED <<done, eye>>

IsAwaited(r, in) == \E j \in InFlight(in.peer) : \E recv \in {Instr(in.peer, j)} :
  IsRecv(recv) /\ recv.peer = r /\ IsTurn(in.peer, recv)
CanPush(r, in) == IsSend(in) /\ IsTurn(r, in) /\ Len(chan[r][in.peer]) < Capacity /\ (Posted => IsAwaited(r, in))

Push(r, i, in) ==
  /\ CanPush(r, in)
  /\ chan' = IF Lossless THEN [chan EXCEPT ![r][in.peer] = Append(chan[r][in.peer], Read(r, Part(r, i, in, in.srcs[1])))] ELSE chan
  /\ Goes(r, i, in)
  /\ UNCHANGED mem

First(q) == IF InOrder THEN q[1] ELSE q[Len(q)]
Rest(q) == IF ~Once THEN q ELSE IF InOrder THEN Tail(q) ELSE SubSeq(q, 1, Len(q) - 1)

Awaits(r, i, in) == IsRecv(in) /\ IsTurn(r, in) /\ MayWrite(r, i, in)
CanPop(r, i, in) == Awaits(r, i, in) /\ Len(chan[in.peer][r]) > 0

Pop(r, i, in) ==
  /\ CanPop(r, i, in)
  /\ \E values \in {Received(r, i, in, First(chan[in.peer][r]))} : Place(r, Part(r, i, in, in.dst), values)
  /\ chan' = [chan EXCEPT ![in.peer][r] = Rest(chan[in.peer][r])]
  /\ Goes(r, i, in)

\* Without room for a segment, a send and its receive, instruction i of rank r, complete together.
Offers(r, in) == IF Capacity > 0 THEN {} ELSE {j \in InFlight(in.peer) : \E send \in {Instr(in.peer, j)} :
  IsSend(send) /\ send.peer = r /\ IsTurn(in.peer, send)}
CanMeet(r, i, in) == Awaits(r, i, in) /\ Offers(r, in) # {}

Meet(r, i, in) ==
  /\ CanMeet(r, i, in)
  /\ \E j \in Offers(r, in) :
       /\ \E values \in {Received(r, i, in, Read(in.peer, Instr(in.peer, j).srcs[1]))} : Place(r, in.dst, values)
       /\ moved' = [moved EXCEPT ![r][i] = Length(in), ![in.peer][j] = Length(in)]
       /\ done' = [done EXCEPT ![r] = done[r] \cup {i}, ![in.peer] = done[in.peer] \cup {j}]
  /\ UNCHANGED <<chan, eye>>

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
  /\ \E values \in {Made(r, in)} : Place(r, in.dst, values)
  /\ Complete(r, i)
  /\ UNCHANGED <<moved, chan>>

IsAble(r, i) == \E in \in {Instr(r, i)} : IsLocal(in) \/ CanPush(r, in) \/ CanPop(r, i, in) \/ CanMeet(r, i, in)
Does(r, i) == \E in \in {Instr(r, i)} : Push(r, i, in) \/ Pop(r, i, in) \/ Meet(r, i, in) \/ Local(r, i, in)

\* What a rank comes to look at, and what after i.
Lowest(all) == CHOOSE i \in all : \A j \in all : i <= j
Looks(r) == IF LooksAtAll \/ Cardinality(InFlight(r)) = 1 THEN InFlight(r)
            ELSE {i \in InFlight(r) : \E j \in InFlight(r) : i < j}
After(all, i) == IF \E j \in all : j > i THEN Lowest({j \in all : j > i}) ELSE Lowest(all)

\* A look in vain. Where nothing can happen any more it is no step, so that a deadlock is one.
Turn(r) ==
  /\ InFlight(r) # {} /\ \E q \in Ranks : \E i \in InFlight(q) : IsAble(q, i)
  /\ IF eye[r] \in InFlight(r) THEN ~IsAble(r, eye[r]) /\ eye' = [eye EXCEPT ![r] = After(Looks(r), eye[r])]
     ELSE \E i \in Looks(r) : eye' = [eye EXCEPT ![r] = i]
  /\ UNCHANGED <<done, moved, mem, chan>>

Moves(r) == IF Polls THEN Turn(r) \/ (eye[r] \in InFlight(r) /\ Does(r, eye[r])) ELSE \E i \in InFlight(r) : Does(r, i)

Returned(r) == done[r] = Instrs(r)
AllDone == \A r \in Ranks : Returned(r)
Finished == AllDone /\ UNCHANGED vars

Next == (\E r \in Ranks : Moves(r)) \/ Finished

\* Each rank goes on by itself: one that looks again and again does not keep another from going on.
Spec == Init /\ [][Next]_vars /\ \A r \in Ranks \ Starved : WF_vars(Moves(r))

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

\* The call returns on every rank.
Ends == \A r \in Ranks : <>Returned(r)
====
