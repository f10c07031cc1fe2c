---- MODULE ShmRing ----
\* A ring of slots in shared memory, from rank "S" to rank "R", on processors that delay stores (x86-TSO), and how a rank
\* sleeps on its doorbell and is woken. A message is one segment here. Go's atomic stores are exchanges on amd64: they
\* happen when all stores before them have reached the memory, and are there at once. What is announced to another rank is stored
\* plainly instead, if Announces is set; then who is about to sleep has the system make sure that all stores have reached the
\* memory which were made before others could see that it sleeps. Unless Naps is set, the nap that bounds a
\* sleep in the code is left out: no wake may be lost without it either.
\*
\* What a slot's line says of a segment is its number and where its data are: small ones in the line itself or in a small
\* slot, which is the same here, and once the sender has taken memory for them in a full one. The sender remembers how far
\* the receiver was, and looks again only when the ring seems full.
\*
\* Ghost variables show that this is the FIFO that Exec assumes, with Slots as its capacity: a message enters it when its
\* number is published, and leaves it when its data are read.
\*
\* action   models
\* Grow     fast/internal/shm:Endpoint.growFor
\* Write    fast/internal/shm:Endpoint.push fast/internal/shm:Endpoint.put fast/internal/shm:row.write
\* Publish  fast/internal/shm:Endpoint.push fast/internal/shm:Endpoint.dispatch fast/internal/shm:Endpoint.announce
\* Read     fast/internal/shm:Endpoint.pull fast/internal/shm:Endpoint.segment fast/internal/shm:Endpoint.fetch fast/internal/kernel:Apply
\* Free     fast/internal/shm:Endpoint.taken
\* Look     fast/internal/shm:Endpoint.advance
\* Wake     fast/internal/shm:Endpoint.wakeReceiver fast/internal/shm:Endpoint.wakeSender
\* Claim    fast/internal/shm:control.wake
\* Ring     fast/internal/shm:control.ring
\* Call     fast/internal/shm:futexWake
\* Bell     fast/internal/shm:Endpoint.sleep
\* Sleepy   fast/internal/shm:Endpoint.sleep
\* Order    fast/internal/shm:order
\* Again    fast/internal/shm:Endpoint.sleep
\* Wait     fast/internal/shm:futexWait
\* Up       fast/internal/shm:Endpoint.sleep
\* Nap      fast/internal/shm:futexWait fast/internal/shm:Endpoint.complete
EXTENDS Naturals, Sequences, FiniteSets

CONSTANTS
  Slots, Messages,
  Grows,     \* TRUE: the sender may take memory for full slots
  Announces, \* TRUE: what is announced is stored plainly
  Orders,    \* FALSE: who is about to sleep does not have the system order stores
  Fence,     \* FALSE: atomic stores may be delayed, as plain ones
  DataFirst, \* FALSE: a segment is published before its data are written
  ReadFirst, \* FALSE: a slot is given back before its data are read
  MindTail,  \* FALSE: the sender does not look whether a slot is free
  BellFirst, \* FALSE: the doorbell is read after the last look
  LookAgain, \* FALSE: who has said that it sleeps does not look once more
  Wakes,     \* FALSE: nobody is woken
  MindWhere, \* FALSE: the receiver looks into small slots alone
  Naps,      \* TRUE: a sleep ends by itself
  LookUp     \* FALSE: who comes out of a nap sleeps again, without a look

VARIABLES
  pc,   \* what each rank does next
  mem,  \* the shared memory, by address
  buf,  \* by rank: stores that are on their way to it
  next, \* by rank: the number of its next segment
  seen, \* by rank: its doorbell as it has read it last
  tail, \* the sender's: how many segments the receiver had taken when it looked last
  full, \* the sender's: it has memory for full slots
  chan, \* ghost: the FIFO
  fine  \* ghost: what was received is what the FIFO says

vars == <<pc, mem, buf, next, seen, tail, full, chan, fine>>
sender == <<tail, full>>

Rank == {"S", "R"}
Other(p) == IF p = "S" THEN "R" ELSE "S"

\* Addresses.
Small(i) == i % Slots
Number(i) == Slots + (i % Slots)
Tail0 == 2 * Slots
Doorbell(p) == IF p = "S" THEN 2 * Slots + 1 ELSE 2 * Slots + 2
Sleeping(p) == IF p = "S" THEN 2 * Slots + 3 ELSE 2 * Slots + 4
Full(i) == 2 * Slots + 5 + (i % Slots)
Where(i) == 3 * Slots + 5 + (i % Slots) \* 0: in the small slot, 1: in the full one
Addresses == 0..(IF Grows THEN 4 * Slots + 4 ELSE 2 * Slots + 4)

Own(p, a) == {k \in 1..Len(buf[p]) : (buf[p][k])[1] = a}
Load(p, a) == IF Own(p, a) = {} THEN mem[a]
              ELSE (buf[p][CHOOSE k \in Own(p, a) : \A j \in Own(p, a) : j <= k])[2]

Plains(p, stores) == buf' = [buf EXCEPT ![p] = buf[p] \o stores] /\ UNCHANGED mem
Atomic(p, a, v) ==
  IF Fence THEN buf[p] = <<>> /\ mem' = [mem EXCEPT ![a] = v] /\ UNCHANGED buf ELSE Plains(p, << <<a, v>> >>)

Announce(p, a, v) == IF Announces THEN Plains(p, << <<a, v>> >>) ELSE Atomic(p, a, v)

Go(p, to) == pc' = [pc EXCEPT ![p] = to]
At(p, at) == pc[p] = at

Init ==
  /\ pc = [p \in Rank |-> "look"]
  /\ mem = [a \in Addresses |-> 0]
  /\ buf = [p \in Rank |-> <<>>]
  /\ next = [p \in Rank |-> 0]
  /\ seen = [p \in Rank |-> 0]
  /\ tail = 0
  /\ full = FALSE
  /\ chan = <<>>
  /\ fine = TRUE

\* A store reaches the memory: those of one rank in order.
Drain(p) ==
  /\ buf[p] # <<>>
  /\ mem' = [mem EXCEPT ![(buf[p][1])[1]] = (buf[p][1])[2]]
  /\ buf' = [buf EXCEPT ![p] = Tail(buf[p])]
  /\ UNCHANGED <<pc, next, seen, sender, chan, fine>>

\* How far the receiver is, as far as the sender knows when it has looked.
Tail1 == IF next["S"] - tail < Slots THEN tail ELSE Load("S", Tail0)

CanMove(p) ==
  IF p = "S" THEN ~MindTail \/ next["S"] - Tail1 < Slots
  ELSE Load("R", Number(next["R"])) = next["R"] + 1

Begin(p) == IF p = "S" THEN IF DataFirst THEN "write" ELSE "publish" ELSE IF ReadFirst THEN "read" ELSE "free"

Remember(p) == tail' = IF p = "S" /\ next["S"] < Messages THEN Tail1 ELSE tail

Look(p) ==
  /\ At(p, "look")
  /\ Go(p, IF next[p] = Messages THEN "done" ELSE IF CanMove(p) THEN Begin(p) ELSE IF BellFirst THEN "bell" ELSE "sleepy")
  /\ Remember(p)
  /\ UNCHANGED <<mem, buf, next, seen, full, chan, fine>>

Count(p, last) == next' = IF last THEN [next EXCEPT ![p] = next[p] + 1] ELSE next

Grow ==
  /\ Grows /\ ~full /\ At("S", "write")
  /\ full' = TRUE
  /\ UNCHANGED <<pc, mem, buf, next, seen, tail, chan, fine>>

Write ==
  /\ At("S", "write")
  /\ IF Grows
     THEN Plains("S", << <<Where(next["S"]), IF full THEN 1 ELSE 0>>, <<IF full THEN Full(next["S"]) ELSE Small(next["S"]), next["S"] + 1>> >>)
     ELSE Plains("S", << <<Small(next["S"]), next["S"] + 1>> >>)
  /\ Count("S", ~DataFirst)
  /\ Go("S", IF DataFirst THEN "publish" ELSE "wake")
  /\ UNCHANGED <<seen, sender, chan, fine>>

Publish ==
  /\ At("S", "publish")
  /\ Announce("S", Number(next["S"]), next["S"] + 1)
  /\ Count("S", DataFirst)
  /\ chan' = Append(chan, next["S"] + 1)
  /\ Go("S", IF DataFirst THEN "wake" ELSE "write")
  /\ UNCHANGED <<seen, sender, fine>>

Place(i) == IF Grows /\ MindWhere /\ Load("R", Where(i)) = 1 THEN Full(i) ELSE Small(i)

Read ==
  /\ At("R", "read")
  /\ fine' = (fine /\ Len(chan) > 0 /\ chan[1] = Load("R", Place(next["R"])))
  /\ chan' = IF Len(chan) > 0 THEN Tail(chan) ELSE chan
  /\ Count("R", ~ReadFirst)
  /\ Go("R", IF ReadFirst THEN "free" ELSE "wake")
  /\ UNCHANGED <<mem, buf, seen, sender>>

Free ==
  /\ At("R", "free")
  /\ Announce("R", Tail0, next["R"] + 1)
  /\ Count("R", ReadFirst)
  /\ Go("R", IF ReadFirst THEN "wake" ELSE "read")
  /\ UNCHANGED <<seen, sender, chan, fine>>

Wake(p) ==
  /\ At(p, "wake")
  /\ Go(p, IF Wakes /\ Load(p, Sleeping(Other(p))) = 1 THEN "claim" ELSE "look")
  /\ UNCHANGED <<mem, buf, next, seen, sender, chan, fine>>

\* A compare-and-swap, and then an addition: both act on the memory itself.
Claim(p) ==
  /\ At(p, "claim") /\ buf[p] = <<>>
  /\ mem' = [mem EXCEPT ![Sleeping(Other(p))] = 0]
  /\ Go(p, IF mem[Sleeping(Other(p))] = 1 THEN "ring" ELSE "look")
  /\ UNCHANGED <<buf, next, seen, sender, chan, fine>>

Ring(p) ==
  /\ At(p, "ring") /\ buf[p] = <<>>
  /\ mem' = [mem EXCEPT ![Doorbell(Other(p))] = mem[Doorbell(Other(p))] + 1]
  /\ Go(p, "call")
  /\ UNCHANGED <<buf, next, seen, sender, chan, fine>>

Call(p) ==
  /\ At(p, "call")
  /\ pc' = [pc EXCEPT ![p] = "look", ![Other(p)] = IF At(Other(p), "asleep") THEN "up" ELSE pc[Other(p)]]
  /\ UNCHANGED <<mem, buf, next, seen, sender, chan, fine>>

Bell(p) ==
  /\ At(p, "bell")
  /\ seen' = [seen EXCEPT ![p] = Load(p, Doorbell(p))]
  /\ Go(p, IF BellFirst THEN "sleepy" ELSE "wait")
  /\ UNCHANGED <<mem, buf, next, sender, chan, fine>>

Sleepy(p) ==
  /\ At(p, "sleepy")
  /\ Atomic(p, Sleeping(p), 1)
  /\ Go(p, IF Announces /\ Orders THEN "order" ELSE "again")
  /\ UNCHANGED <<next, seen, sender, chan, fine>>

Order(p) ==
  /\ At(p, "order") /\ \A q \in Rank : buf[q] = <<>>
  /\ Go(p, "again")
  /\ UNCHANGED <<mem, buf, next, seen, sender, chan, fine>>

Again(p) ==
  /\ At(p, "again")
  /\ Go(p, IF LookAgain /\ CanMove(p) THEN "up" ELSE IF BellFirst THEN "wait" ELSE "bell")
  /\ UNCHANGED <<mem, buf, next, seen, sender, chan, fine>>

\* The system compares the doorbell and puts the rank to sleep at once.
Wait(p) ==
  /\ At(p, "wait") /\ buf[p] = <<>>
  /\ Go(p, IF mem[Doorbell(p)] = seen[p] THEN "asleep" ELSE "up")
  /\ UNCHANGED <<mem, buf, next, seen, sender, chan, fine>>

\* The sleep has lasted for long enough.
Nap(p) ==
  /\ Naps /\ At(p, "asleep")
  /\ Go(p, IF LookUp THEN "up" ELSE "wait")
  /\ UNCHANGED <<mem, buf, next, seen, sender, chan, fine>>

Up(p) ==
  /\ At(p, "up")
  /\ Atomic(p, Sleeping(p), 0)
  /\ Go(p, "look")
  /\ UNCHANGED <<next, seen, sender, chan, fine>>

Move(p) ==
  \/ Look(p) \/ Wake(p) \/ Claim(p) \/ Ring(p) \/ Call(p) \/ Bell(p) \/ Sleepy(p) \/ Order(p) \/ Again(p) \/ Wait(p) \/ Nap(p) \/ Up(p)
  \/ Drain(p)

AllDone == \A p \in Rank : At(p, "done") /\ buf[p] = <<>>
Finished == AllDone /\ UNCHANGED vars

Next == Move("S") \/ Move("R") \/ Grow \/ Write \/ Publish \/ Read \/ Free \/ Finished

\* Each goes on by itself: one that naps again and again does not keep the other from going on.
Sends == Move("S") \/ Write \/ Publish
Receives == Move("R") \/ Read \/ Free
Spec == Init /\ [][Next]_vars /\ WF_vars(Sends) /\ WF_vars(Receives)

TypeOK == next["S"] <= Messages /\ next["R"] <= Messages /\ \A p \in Rank : mem[Sleeping(p)] \in 0..1

\* Every step is one of the FIFO, or none.
Refines == fine /\ Len(chan) <= Slots

Drained == AllDone => chan = <<>>

Ends == <>(pc["S"] = "done" /\ pc["R"] = "done")
====
