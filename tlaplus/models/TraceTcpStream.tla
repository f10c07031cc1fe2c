---- MODULE TraceTcpStream ----
\* TcpStream, made to follow what became of the bytes of one connection in a real run, which module Trace has for its sender and
\* its receiver, and module Frames its stream: see docs/events.md. A byte here is as many of the run as no system call and no
\* receiver has divided. What the sender's system took is written down only when others may have seen it; so one that dies may
\* have written more than it says. That a message is complete goes by itself. How ranks look at sockets and sleep is not followed.
\*
\* action    models
\* Puts      fast/internal/tcp:Endpoint.prepare
\* Wrote     fast/internal/tcp:output.write
\* Came      fast/internal/tcp:input.fill fast/internal/tcp:link.receive
\* Framed    fast/internal/tcp:Endpoint.take fast/internal/tcp:link.traceFrame
\* Placed    fast/internal/tcp:link.markPlaced fast/internal/tcp:Endpoint.completeReceive
EXTENDS Naturals, Sequences, FiniteSets, TcpStream, Trace

VARIABLES
  pos,    \* by rank: the events that were taken
  framed, \* frames of messages that the sender has begun
  refused \* the rank and the number of the event that is refused; <<>>: none yet

all == <<vars, pos, framed, refused>>

TraceInit == Init /\ pos = [p \in Rank |-> 0] /\ framed = 0 /\ refused = <<>>

Left(p) == pos[p] < Len(Trace(p))
Event(p) == Trace(p)[pos[p] + 1]

\* The next frame of a message, and how much may be written before that is begun.
NextFrame == Turns[framed + 1]
Begun == IF framed = Len(Turns) THEN Total ELSE IF NextFrame = 1 THEN 0 ELSE Frames[NextFrame - 1].ends

FitsPut(e) == framed < Len(Turns) /\ \E f \in {Frames[NextFrame]} :
  f.message = e.message /\ f.data = e.bytes /\ f.left = Sizes[e.message] - e.at

FitsFrame(e) ==
  IF e.message = 0 THEN CanHear /\ (buf[1])[3] = e.bytes
  ELSE CanParse /\ taken + 1 = e.message /\ (buf[1])[2] = e.left /\ (buf[1])[3] = e.bytes

FitsPlaced(e) ==
  /\ taken + 1 = e.message
  /\ IF e.bytes = 0 THEN IsDone ELSE Len(into) = e.at /\ e.bytes <= left /\ e.bytes <= Len(buf)

Fits(e) ==
  CASE e.do = "put" -> FitsPut(e)
    [] e.do = "wrote" -> sent + e.bytes <= Begun
    [] e.do = "came" -> e.bytes <= Len(wire)
    [] e.do = "frame" -> FitsFrame(e)
    [] OTHER -> FitsPlaced(e)

Can(p) == Left(p) /\ \E e \in {Event(p)} : Fits(e)

Puts == framed' = framed + 1 /\ UNCHANGED vars
Wrote(e) == Writes(e.bytes) /\ UNCHANGED framed
Came(e) == Brings(e.bytes) /\ UNCHANGED framed
Framed(e) == (IF e.message = 0 THEN Hear ELSE Header) /\ UNCHANGED framed
Placed(e) == (IF e.bytes = 0 THEN Done ELSE Places(e.bytes)) /\ UNCHANGED framed

TakesEvent(p, e) ==
  /\ pos' = [pos EXCEPT ![p] = pos[p] + 1]
  /\ UNCHANGED refused
  /\ CASE e.do = "put" -> Puts
       [] e.do = "wrote" -> Wrote(e)
       [] e.do = "came" -> Came(e)
       [] e.do = "frame" -> Framed(e)
       [] OTHER -> Placed(e)

\* What goes by itself: that a message with data is complete, and what one that died has written without saying so.
Completes == Receives /\ IsDone /\ Len(into) > 0
Missing == IF Event("R").do = "came" /\ Event("R").bytes > Len(wire) THEN Event("R").bytes - Len(wire) ELSE 0
Owes == SenderDies /\ ~Left("S") /\ Left("R") /\ \E n \in {Missing} : n > 0 /\ sent + n <= Begun

\* Who goes on. A sender waits for nobody here: if it cannot, its event does not fit.
Goes == IF refused # <<>> THEN "over" ELSE IF Completes THEN "completes" ELSE IF Can("S") THEN "S" ELSE IF Can("R") THEN "R"
        ELSE IF Owes THEN "owes" ELSE IF Left("S") \/ Left("R") THEN "refuse" ELSE "over"

Refuse ==
  /\ refused' = IF Left("S") THEN <<SenderRank, pos["S"] + 1>> ELSE <<ReceiverRank, pos["R"] + 1>>
  /\ UNCHANGED <<vars, pos, framed>>

TraceNext == \E goes \in {Goes} :
  CASE goes = "completes" -> Done /\ UNCHANGED <<pos, framed, refused>>
    [] goes = "owes" -> Writes(Missing) /\ UNCHANGED <<pos, framed, refused>>
    [] goes = "refuse" -> Refuse
    [] goes = "over" -> UNCHANGED <<vars, pos, framed, refused>>
    [] OTHER -> \E e \in {Event(goes)} : TakesEvent(goes, e)

TraceSpec == TraceInit /\ [][TraceNext]_all

\* Each step takes an event, or what is left of one; so a trace that is neither refused nor ends in a deadlock was followed to
\* its end, and no property is needed for that, which would take tla-checker minutes.
Follows == refused = <<>>
====
