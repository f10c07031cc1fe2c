---- MODULE TcpStream ----
\* A TCP connection that carries messages in frames from rank "S" to rank "R": any part of what is to be written is taken
\* by the socket at a time, and any part of what has come is read; who cannot go on sleeps on epoll, where its socket is
\* armed once (EPOLLONESHOT). There are no credits to model: what has not been taken fills the sockets, and the sender
\* waits for room in its own.
\*
\* Unless Naps is set, the nap that bounds a sleep is left out. Whatever else ends one is: Fail, and a connection that arrives.
\* So are the looks before a sleep. After a sleep epoll forgets all sockets, if the rank waits for few, and not only those that have told
\* of something; here each rank has one, and only what it tells ends a sleep, so that to forget it is what Heed does.
\*
\* A frame is a header, of which the first byte says how much of the message is left and how much of it follows, and that much
\* of the message's data; or it tells something else, and is taken as a whole. Module Frames, which is generated, has the
\* stream of all frames. Ghost variables show that this is the FIFO that Exec assumes: a message enters it when its last byte
\* is written, and leaves it when its last byte is in place.
\*
\* action  models
\* Push    fast/internal/tcp:Endpoint.push fast/internal/tcp:output.write fast/internal/tcp:output.drop
\* Full    fast/internal/tcp:output.result
\* Header  fast/internal/tcp:Endpoint.take fast/internal/linkproto:ParseHeader
\* Hear    fast/internal/tcp:Endpoint.handleControl fast/internal/linkproto:Partner.SetCall fast/internal/linkbase:Endpoint.HandleControl
\* Place   fast/internal/tcp:link.place fast/internal/tcp:link.markPlaced fast/internal/linkbase:Incoming.Fits
\* Done    fast/internal/tcp:Endpoint.completeReceive fast/internal/linkbase:Endpoint.CompleteReceive
\* Fill    fast/internal/tcp:input.fill fast/internal/tcp:input.readInto
\* Dry     fast/internal/tcp:input.readInto
\* Arm     fast/internal/tcp:poller.arm fast/internal/tcp:Endpoint.interest
\* Heed    fast/internal/tcp:Endpoint.poll fast/internal/tcp:poller.wait fast/internal/tcp:poller.disarm
\* Nap     fast/internal/linkbase:Endpoint.sleep fast/internal/tcp:poller.sleep
\* Fails   fast/internal/tcp:link.endError
EXTENDS Naturals, Sequences, FiniteSets, Frames

CONSTANTS
  Room,        \* bytes that the sockets hold
  Buffer,      \* bytes that the receiver's buffer holds
  MayBreak,    \* TRUE: the connection may break
  KeepRest,    \* FALSE: who wrote a part takes all as written
  WholeHeader, \* FALSE: a header is taken before all of it has come
  MindEnd,     \* FALSE: a message ends where the connection does
  ArmIn,       \* FALSE: the receiver sleeps without having armed its socket
  ArmOut,      \* FALSE: the sender does
  ArmAnew,     \* FALSE: a socket that has told of something is taken as still armed
  Level,       \* FALSE: an armed socket tells only of what happens from then on
  Naps         \* TRUE: a sleep ends by itself, which tells nothing about the socket

VARIABLES
  pc,     \* by rank: "look", "arm", "asleep", "done" or "failed"
  sent,   \* bytes of all frames that were written
  wire,   \* bytes in the sockets
  broken, \* the connection
  buf,    \* bytes that were read and not taken
  left,   \* bytes of the current segment that are missing
  begun,  \* the current message's first header has come
  into,   \* data of the current message that are in place
  taken,  \* messages that are complete
  armed,  \* by rank: what the system knows
  cached, \* and what the rank takes as known
  event,  \* by rank: something has happened since it was armed
  chan,   \* ghost: the FIFO
  fine    \* ghost: what was received is what the FIFO says

vars == <<pc, sent, wire, broken, buf, left, begun, into, taken, armed, cached, event, chan, fine>>
sender == <<sent, broken>>
receiver == <<left, begun, into, taken>>
polling == <<armed, cached, event>>

Rank == {"S", "R"}

\* A byte says what it is, and of which message. That of a header's beginning has the bytes of the message that are left, and
\* those of the frame's body and of the header itself; that of data has its number in the message.
Data == 0
First == 1
More == 2
Other == 3 \* the beginning of a frame that is not a message's
Min(a, b) == IF a < b THEN a ELSE b
Message(m) == [k \in 1..Sizes[m] |-> <<Data, m, k, 0>>]

Total == Len(Stream)
FrameEnd(n) == (Frames[CHOOSE f \in 1..Len(Frames) : Frames[f].ends >= n /\ (f = 1 \/ Frames[f - 1].ends < n)]).ends
Complete(n) == Cardinality({m \in 1..Len(Sizes) : MessageEnds[m] > 0 /\ MessageEnds[m] <= n})

Init ==
  /\ pc = [p \in Rank |-> "look"]
  /\ sent = 0 /\ wire = <<>> /\ broken = FALSE
  /\ buf = <<>> /\ left = 0 /\ begun = FALSE /\ into = <<>> /\ taken = 0
  /\ armed = [p \in Rank |-> FALSE] /\ cached = [p \in Rank |-> FALSE] /\ event = [p \in Rank |-> FALSE]
  /\ chan = <<>> /\ fine = TRUE

At(p, at) == pc[p] = at
Go(p, to) == pc' = [pc EXCEPT ![p] = to]
Happens(p) == event' = [event EXCEPT ![p] = TRUE]

Writes(k) ==
  /\ wire' = wire \o SubSeq(Stream, sent + 1, sent + k)
  /\ \E now \in {IF KeepRest THEN sent + k ELSE FrameEnd(sent + 1)} :
       /\ sent' = now
       /\ chan' = chan \o [m \in 1..(Complete(now) - Complete(sent)) |-> Complete(sent) + m]
       /\ Go("S", IF now = Total THEN "done" ELSE "look")
  /\ Happens("R")
  /\ UNCHANGED <<broken, buf, receiver, armed, cached, fine>>

\* The sender writes k bytes of one frame.
Push(k) ==
  /\ At("S", "look") /\ ~broken /\ sent < Total
  /\ k <= Room - Len(wire) /\ k <= FrameEnd(sent + 1) - sent
  /\ Writes(k)

\* The sender finds no room.
Full ==
  /\ At("S", "look") /\ ~broken /\ Len(wire) = Room
  /\ Go("S", "arm")
  /\ UNCHANGED <<sender, wire, buf, receiver, polling, chan, fine>>

Arms(p) == ~cached[p] /\ IF p = "S" THEN ArmOut ELSE ArmIn

Arm(p) ==
  /\ At(p, "arm")
  /\ armed' = [armed EXCEPT ![p] = armed[p] \/ Arms(p)]
  /\ cached' = [cached EXCEPT ![p] = TRUE]
  /\ event' = IF Arms(p) THEN [event EXCEPT ![p] = FALSE] ELSE event
  /\ Go(p, "asleep")
  /\ UNCHANGED <<sender, wire, buf, receiver, chan, fine>>

CanTake == left > 0 /\ buf # <<>>
IsDone == begun /\ left = 0 /\ Len(into) = Sizes[taken + 1]
IsNext == left = 0 /\ ~IsDone /\ buf # <<>>
IsOther == (buf[1])[1] = Other
CanHear == IsNext /\ IsOther /\ Len(buf) >= (buf[1])[4] + (buf[1])[3]
CanParse == IsNext /\ ~IsOther /\ Len(buf) >= (IF WholeHeader THEN (buf[1])[4] ELSE 1)
Receives == At("R", "look") /\ taken < Len(Sizes)

Skip(n) == buf' = IF Len(buf) < n THEN <<>> ELSE SubSeq(buf, n + 1, Len(buf))

Header ==
  /\ Receives /\ CanParse
  /\ \E first \in {buf[1]} : \E is \in {first[1] = First} :
       /\ left' = IF is THEN first[3] ELSE 1
       /\ fine' = (fine /\ is /\ first[2] = Sizes[taken + 1] - Len(into))
       /\ Skip(IF is THEN first[4] ELSE 1)
  /\ begun' = TRUE
  /\ UNCHANGED <<pc, sender, wire, into, taken, polling, chan>>

Hear ==
  /\ CanHear
  /\ Skip((buf[1])[4] + (buf[1])[3])
  /\ UNCHANGED <<pc, sender, wire, receiver, polling, chan, fine>>

Places(n) ==
  /\ into' = into \o SubSeq(buf, 1, n)
  /\ Skip(n)
  /\ left' = left - n
  /\ UNCHANGED <<pc, sender, wire, begun, taken, polling, chan, fine>>

Place ==
  /\ Receives /\ CanTake
  /\ \E n \in {Min(left, Len(buf))} : Places(n)

Received ==
  /\ fine' = (fine /\ Len(chan) > 0 /\ chan[1] = taken + 1 /\ into = Message(taken + 1))
  /\ chan' = IF Len(chan) > 0 THEN Tail(chan) ELSE chan
  /\ taken' = taken + 1
  /\ into' = <<>> /\ begun' = FALSE
  /\ Go("R", IF taken + 1 = Len(Sizes) THEN "done" ELSE "look")

Done ==
  /\ Receives /\ IsDone
  /\ Received
  /\ UNCHANGED <<sender, wire, buf, left, polling>>

Nothing == ~CanTake /\ ~IsDone /\ ~CanParse /\ ~CanHear

Brings(k) ==
  /\ buf' = buf \o SubSeq(wire, 1, k)
  /\ wire' = SubSeq(wire, k + 1, Len(wire))
  /\ Happens("S")
  /\ UNCHANGED <<pc, sender, receiver, armed, cached, chan, fine>>

\* The receiver reads k bytes.
Fill(k) ==
  /\ Receives /\ Nothing /\ k <= Len(wire) /\ k <= Buffer - Len(buf)
  /\ Brings(k)

Dry ==
  /\ Receives /\ Nothing /\ wire = <<>> /\ ~broken
  /\ Go("R", "arm")
  /\ UNCHANGED <<sender, wire, buf, receiver, polling, chan, fine>>

IsReady(p) == broken \/ IF p = "S" THEN Len(wire) < Room ELSE wire # <<>>

Tells(p) == armed[p] /\ IsReady(p) /\ (Level \/ event[p])

Heed(p) ==
  /\ At(p, "asleep") /\ Tells(p)
  /\ armed' = [armed EXCEPT ![p] = FALSE]
  /\ cached' = IF ArmAnew THEN [cached EXCEPT ![p] = FALSE] ELSE cached
  /\ Go(p, "look")
  /\ UNCHANGED <<sender, wire, buf, receiver, event, chan, fine>>

Nap(p) ==
  /\ Naps /\ At(p, "asleep") /\ ~Tells(p)
  /\ Go(p, "arm")
  /\ UNCHANGED <<sender, wire, buf, receiver, polling, chan, fine>>

\* What is in the sockets is lost.
Break ==
  /\ MayBreak /\ ~broken
  /\ broken' = TRUE /\ wire' = <<>>
  /\ event' = [p \in Rank |-> TRUE]
  /\ UNCHANGED <<pc, sent, buf, receiver, armed, cached, chan, fine>>

Fails(p) ==
  /\ At(p, "look") /\ broken
  /\ IF p = "S" \/ MindEnd \/ ~begun
     THEN (p = "R" => Nothing) /\ Go(p, "failed") /\ UNCHANGED <<receiver, chan, fine>>
     ELSE Nothing /\ Received /\ UNCHANGED left
  /\ UNCHANGED <<sender, wire, buf, polling>>

Ended(p) == pc[p] \in {"done", "failed"}
Finished == Ended("S") /\ Ended("R") /\ UNCHANGED vars

Next ==
  \/ (\E k \in 1..Room : Push(k)) \/ Full
  \/ Header \/ (Receives /\ Hear) \/ Place \/ Done \/ (\E k \in 1..Room : Fill(k)) \/ Dry
  \/ (\E p \in Rank : Arm(p) \/ Heed(p) \/ Nap(p) \/ Fails(p)) \/ Break \/ Finished

Sleeps(p) == Arm(p) \/ Heed(p) \/ Nap(p) \/ Fails(p)
Sends == Full \/ Sleeps("S") \/ \E k \in 1..Room : Push(k)
Takes == Header \/ (Receives /\ Hear) \/ Place \/ Done \/ Dry \/ Sleeps("R") \/ \E k \in 1..Room : Fill(k)

\* Each goes on by itself: one that naps again and again does not keep the other from going on.
Spec == Init /\ [][Next]_vars /\ WF_vars(Sends) /\ WF_vars(Takes)

TypeOK == Len(wire) <= Room /\ Len(buf) <= Buffer /\ taken <= Len(Sizes) /\ sent <= Total

\* Every step is one of the FIFO, or none. It holds no more messages than have headers in the sockets and the buffer, and the
\* one in turn whose header was taken; what broke with the connection is in neither.
Refines == fine /\ (broken \/ Heads * Len(chan) <= Len(wire) + Len(buf) + (IF begun THEN Heads ELSE 0))

\* Nobody fails but for a connection that broke, and who is done has everything.
Drained ==
  /\ At("R", "done") => (chan = <<>> /\ taken = Len(Sizes))
  /\ (At("R", "failed") \/ At("S", "failed")) => broken

Ends == <>(Ended("S") /\ Ended("R"))
====
