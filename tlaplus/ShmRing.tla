---- MODULE ShmRing ----
\* A ring of slots in shared memory, from rank "S" to rank "R", on processors that delay stores (x86-TSO), and how a rank
\* sleeps on its doorbell and is woken. A message is one segment here. Go's atomic stores are exchanges on amd64: they
\* happen when all stores before them have reached the memory, and are there at once. The nap that bounds a sleep in the
\* code is left out: no wake may be lost without it either.
\*
\* Ghost variables show that this is the FIFO that Exec assumes, with Slots as its capacity: a message enters it when its
\* number is published, and leaves it when its data are read.
\*
\* action   models
\* Write    fast/internal/shm:Endpoint.push
\* Publish  fast/internal/shm:Endpoint.push
\* Read     fast/internal/shm:Endpoint.pull fast/internal/shm:incoming.apply
\* Free     fast/internal/shm:Endpoint.taken
\* Look     fast/internal/shm:Endpoint.advance
\* Wake     fast/internal/shm:Endpoint.wakeReceiver fast/internal/shm:Endpoint.wakeSender
\* Claim    fast/internal/shm:control.wake
\* Ring     fast/internal/shm:control.ring
\* Call     fast/internal/shm:futexWake
\* Bell     fast/internal/shm:Endpoint.sleep
\* Sleepy   fast/internal/shm:Endpoint.sleep
\* Again    fast/internal/shm:Endpoint.sleep
\* Wait     fast/internal/shm:futexWait
\* Up       fast/internal/shm:Endpoint.sleep
EXTENDS Naturals, Sequences, FiniteSets

CONSTANTS
  Slots, Messages,
  Fence,     \* FALSE: atomic stores may be delayed, as plain ones
  DataFirst, \* FALSE: a segment is published before its data are written
  ReadFirst, \* FALSE: a slot is given back before its data are read
  MindTail,  \* FALSE: the sender does not look whether a slot is free
  BellFirst, \* FALSE: the doorbell is read after the last look
  LookAgain, \* FALSE: who has said that it sleeps does not look once more
  Wakes      \* FALSE: nobody is woken

VARIABLES
  pc,   \* what each rank does next
  mem,  \* the shared memory, by address
  buf,  \* by rank: stores that are on their way to it
  next, \* by rank: the number of its next segment
  seen, \* by rank: its doorbell as it has read it last
  chan, \* ghost: the FIFO
  fine  \* ghost: what was received is what the FIFO says

vars == <<pc, mem, buf, next, seen, chan, fine>>

Rank == {"S", "R"}
Other(p) == IF p = "S" THEN "R" ELSE "S"

\* Addresses.
Data(i) == i % Slots
Number(i) == Slots + (i % Slots)
Tail0 == 2 * Slots
Doorbell(p) == IF p = "S" THEN 2 * Slots + 1 ELSE 2 * Slots + 2
Sleeping(p) == IF p = "S" THEN 2 * Slots + 3 ELSE 2 * Slots + 4

Own(p, a) == {k \in 1..Len(buf[p]) : (buf[p][k])[1] = a}
Load(p, a) == IF Own(p, a) = {} THEN mem[a]
              ELSE (buf[p][CHOOSE k \in Own(p, a) : \A j \in Own(p, a) : j <= k])[2]

Plain(p, a, v) == buf' = [buf EXCEPT ![p] = Append(buf[p], <<a, v>>)] /\ UNCHANGED mem
Atomic(p, a, v) ==
  IF Fence THEN buf[p] = <<>> /\ mem' = [mem EXCEPT ![a] = v] /\ UNCHANGED buf ELSE Plain(p, a, v)

Go(p, to) == pc' = [pc EXCEPT ![p] = to]
At(p, at) == pc[p] = at

Init ==
  /\ pc = [p \in Rank |-> "look"]
  /\ mem = [a \in 0..(2 * Slots + 4) |-> 0]
  /\ buf = [p \in Rank |-> <<>>]
  /\ next = [p \in Rank |-> 0]
  /\ seen = [p \in Rank |-> 0]
  /\ chan = <<>>
  /\ fine = TRUE

\* A store reaches the memory: those of one rank in order.
Drain(p) ==
  /\ buf[p] # <<>>
  /\ mem' = [mem EXCEPT ![(buf[p][1])[1]] = (buf[p][1])[2]]
  /\ buf' = [buf EXCEPT ![p] = Tail(buf[p])]
  /\ UNCHANGED <<pc, next, seen, chan, fine>>

CanMove(p) ==
  IF p = "S" THEN ~MindTail \/ next["S"] - Load("S", Tail0) < Slots
  ELSE Load("R", Number(next["R"])) = next["R"] + 1

Begin(p) == IF p = "S" THEN IF DataFirst THEN "write" ELSE "publish" ELSE IF ReadFirst THEN "read" ELSE "free"

Look(p) ==
  /\ At(p, "look")
  /\ Go(p, IF next[p] = Messages THEN "done" ELSE IF CanMove(p) THEN Begin(p) ELSE IF BellFirst THEN "bell" ELSE "sleepy")
  /\ UNCHANGED <<mem, buf, next, seen, chan, fine>>

Count(p, last) == next' = IF last THEN [next EXCEPT ![p] = next[p] + 1] ELSE next

Write ==
  /\ At("S", "write")
  /\ Plain("S", Data(next["S"]), next["S"] + 1)
  /\ Count("S", ~DataFirst)
  /\ Go("S", IF DataFirst THEN "publish" ELSE "wake")
  /\ UNCHANGED <<seen, chan, fine>>

Publish ==
  /\ At("S", "publish")
  /\ Atomic("S", Number(next["S"]), next["S"] + 1)
  /\ Count("S", DataFirst)
  /\ chan' = Append(chan, next["S"] + 1)
  /\ Go("S", IF DataFirst THEN "wake" ELSE "write")
  /\ UNCHANGED <<seen, fine>>

Read ==
  /\ At("R", "read")
  /\ fine' = (fine /\ Len(chan) > 0 /\ chan[1] = Load("R", Data(next["R"])))
  /\ chan' = IF Len(chan) > 0 THEN Tail(chan) ELSE chan
  /\ Count("R", ~ReadFirst)
  /\ Go("R", IF ReadFirst THEN "free" ELSE "wake")
  /\ UNCHANGED <<mem, buf, seen>>

Free ==
  /\ At("R", "free")
  /\ Atomic("R", Tail0, next["R"] + 1)
  /\ Count("R", ReadFirst)
  /\ Go("R", IF ReadFirst THEN "wake" ELSE "read")
  /\ UNCHANGED <<seen, chan, fine>>

Wake(p) ==
  /\ At(p, "wake")
  /\ Go(p, IF Wakes /\ Load(p, Sleeping(Other(p))) = 1 THEN "claim" ELSE "look")
  /\ UNCHANGED <<mem, buf, next, seen, chan, fine>>

\* A compare-and-swap, and then an addition: both act on the memory itself.
Claim(p) ==
  /\ At(p, "claim") /\ buf[p] = <<>>
  /\ mem' = [mem EXCEPT ![Sleeping(Other(p))] = 0]
  /\ Go(p, IF mem[Sleeping(Other(p))] = 1 THEN "ring" ELSE "look")
  /\ UNCHANGED <<buf, next, seen, chan, fine>>

Ring(p) ==
  /\ At(p, "ring") /\ buf[p] = <<>>
  /\ mem' = [mem EXCEPT ![Doorbell(Other(p))] = mem[Doorbell(Other(p))] + 1]
  /\ Go(p, "call")
  /\ UNCHANGED <<buf, next, seen, chan, fine>>

Call(p) ==
  /\ At(p, "call")
  /\ pc' = [pc EXCEPT ![p] = "look", ![Other(p)] = IF At(Other(p), "asleep") THEN "up" ELSE pc[Other(p)]]
  /\ UNCHANGED <<mem, buf, next, seen, chan, fine>>

Bell(p) ==
  /\ At(p, "bell")
  /\ seen' = [seen EXCEPT ![p] = Load(p, Doorbell(p))]
  /\ Go(p, IF BellFirst THEN "sleepy" ELSE "wait")
  /\ UNCHANGED <<mem, buf, next, chan, fine>>

Sleepy(p) ==
  /\ At(p, "sleepy")
  /\ Atomic(p, Sleeping(p), 1)
  /\ Go(p, "again")
  /\ UNCHANGED <<next, seen, chan, fine>>

Again(p) ==
  /\ At(p, "again")
  /\ Go(p, IF LookAgain /\ CanMove(p) THEN "up" ELSE IF BellFirst THEN "wait" ELSE "bell")
  /\ UNCHANGED <<mem, buf, next, seen, chan, fine>>

\* The system compares the doorbell and puts the rank to sleep at once.
Wait(p) ==
  /\ At(p, "wait") /\ buf[p] = <<>>
  /\ Go(p, IF mem[Doorbell(p)] = seen[p] THEN "asleep" ELSE "up")
  /\ UNCHANGED <<mem, buf, next, seen, chan, fine>>

Up(p) ==
  /\ At(p, "up")
  /\ Atomic(p, Sleeping(p), 0)
  /\ Go(p, "look")
  /\ UNCHANGED <<next, seen, chan, fine>>

Move(p) ==
  \/ Look(p) \/ Wake(p) \/ Claim(p) \/ Ring(p) \/ Call(p) \/ Bell(p) \/ Sleepy(p) \/ Again(p) \/ Wait(p) \/ Up(p)
  \/ Drain(p)

AllDone == \A p \in Rank : At(p, "done") /\ buf[p] = <<>>
Finished == AllDone /\ UNCHANGED vars

Next == Move("S") \/ Move("R") \/ Write \/ Publish \/ Read \/ Free \/ Finished

Spec == Init /\ [][Next]_vars /\ WF_vars(Next)

TypeOK == next["S"] <= Messages /\ next["R"] <= Messages /\ \A p \in Rank : mem[Sleeping(p)] \in 0..1

\* Every step is one of the FIFO, or none.
Refines == fine /\ Len(chan) <= Slots

Drained == AllDone => chan = <<>>

Ends == <>(pc["S"] = "done" /\ pc["R"] = "done")
====
