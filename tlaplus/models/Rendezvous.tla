---- MODULE Rendezvous ----
\* How the processes of a job find each other: each publishes its card in the store, with a random token and where it listens; of
\* two processes the one with the higher number dials, as often as needed; the one that listens admits whom the store
\* knows, once; and process 0 says go when all are connected to all. What else comes to a listening process: strays that
\* cannot authenticate, and an impostor, started as a process that is there already, which has the secret but another token.
\*
\* A try to connect goes through a handshake; then the process that has dialled confirms, and only then there is a
\* connection. Its end, also of one that nobody confirmed, is the death of the process at the other end: what a crash is to
\* be taken for, and nothing else.
\*
\* action    models
\* Publish   fast/internal/mesh:Mesh.publish fast/internal/store:Memory.Set
\* Fetch     fast/internal/mesh:joining.fetch fast/internal/store:Memory.Get
\* Dial      fast/internal/mesh:Mesh.call fast/internal/mesh:Mesh.try
\* Stray     fast/internal/secure:Server.Serve
\* Imposture fast/internal/mesh:Mesh.call
\* Check     fast/internal/mesh:Mesh.check
\* GiveUp    fast/internal/mesh:Mesh.try
\* Confirm   fast/internal/mesh:Mesh.dialControl
\* Accept    fast/internal/mesh:Mesh.accepted fast/internal/mesh:Mesh.confirm fast/internal/mesh:Mesh.attach
\* Go        fast/internal/mesh:joining.settle
EXTENDS Naturals, Sequences, FiniteSets

CONSTANTS
  N,           \* processes
  Stale,       \* tries to connect that are given up in the middle
  Publishes,   \* FALSE: a process dials before it has published its card, and never does
  Fetches,     \* FALSE: process 0 does not look for the cards of those that it does not know
  Redials,     \* FALSE: who gave up a try, or was told to come later, does not try again
  Secrets,     \* FALSE: strays are taken for whom they say they are
  Tokens,      \* FALSE: a token is not compared with that of the card
  Confirms,    \* FALSE: a connection counts before it is confirmed
  AwaitsAll    \* FALSE: process 0 says go when it is connected itself

VARIABLES
  store,   \* whose cards are published
  known,   \* by process: whose cards it has
  tries,   \* connections on their way: who made them, to whom, as whom, and how far they are
  linked,  \* by process: to whom it is connected, as it believes
  fooled,  \* whether somebody believes to be connected to whom it is not
  mourned, \* whether somebody was taken for dead
  stale,   \* tries that were given up
  visits,  \* whether the stray and the impostor have come
  started  \* who has been told to go

vars == <<store, known, tries, linked, fooled, mourned, stale, visits, started>>

Processes == 0..(N - 1)

Init ==
  /\ store = {} /\ known = [p \in Processes |-> {p}] /\ tries = {} /\ linked = [p \in Processes |-> {}]
  /\ fooled = FALSE /\ mourned = FALSE /\ stale = 0 /\ visits = {} /\ started = {}

Publish(p) ==
  /\ Publishes \/ p # 0
  /\ p \notin store
  /\ store' = store \cup {p}
  /\ UNCHANGED <<known, tries, linked, fooled, mourned, stale, visits, started>>

Fetch(p, q) ==
  /\ Fetches \/ p # 0
  /\ p \in store /\ q \in store \ known[p]
  /\ known' = [known EXCEPT ![p] = known[p] \cup {q}]
  /\ UNCHANGED <<store, tries, linked, fooled, mourned, stale, visits, started>>

\* A try is made by "process", "stray" or "impostor", to a process, as another.
Try(who, from, to, at) == [who |-> who, from |-> from, to |-> to, at |-> at]

Dial(p, q) ==
  /\ q < p /\ q \in known[p] /\ q \notin linked[p]
  /\ ~\E t \in tries : t.who = "process" /\ t.from = p /\ t.to = q /\ t.at # "left"
  /\ Redials \/ ~\E t \in tries : t.who = "process" /\ t.from = p /\ t.to = q
  /\ tries' = tries \cup {Try("process", p, q, "hello")}
  /\ UNCHANGED <<store, known, linked, fooled, mourned, stale, visits, started>>

\* Both come to process 0, as process 1.
Visit(who) ==
  /\ who \notin visits /\ 0 \in store
  /\ visits' = visits \cup {who}
  /\ tries' = tries \cup {Try(who, 1, 0, "hello")}
  /\ UNCHANGED <<store, known, linked, fooled, mourned, stale, started>>

Stray == Visit("stray")
Imposture == Visit("impostor")

IsRefused(t) == (Secrets /\ t.who = "stray") \/ (Tokens /\ t.who = "impostor") \/ t.from \in linked[t.to]
Moved(t, at) == (tries \ {t}) \cup {[t EXCEPT !.at = at]}

Belief(t) == linked' = [linked EXCEPT ![t.to] = linked[t.to] \cup {t.from}] /\ fooled' = (fooled \/ t.who # "process")

\* The one that listens looks at a hello. Who is not known yet is told to come later.
Check(t) ==
  /\ t.at = "hello"
  /\ IF t.from \notin known[t.to] \/ IsRefused(t)
     THEN tries' = Moved(t, "left") /\ UNCHANGED <<linked, fooled>>
     ELSE tries' = Moved(t, "welcome") /\ IF Confirms THEN UNCHANGED <<linked, fooled>> ELSE Belief(t)
  /\ UNCHANGED <<store, known, mourned, stale, visits, started>>

\* Who has dialled waits no longer, and leaves the try behind.
GiveUp(t) ==
  /\ t.who = "process" /\ t.at \in {"hello", "welcome"} /\ stale < Stale
  /\ stale' = stale + 1
  /\ tries' = Moved(t, "left")
  /\ mourned' = (mourned \/ (t.at = "welcome" /\ ~Confirms)) \* the end of what counts as a connection
  /\ UNCHANGED <<store, known, linked, fooled, visits, started>>

Confirm(t) ==
  /\ t.at = "welcome"
  /\ tries' = Moved(t, "confirmed")
  /\ IF t.who = "process" THEN linked' = [linked EXCEPT ![t.from] = linked[t.from] \cup {t.to}] ELSE UNCHANGED linked
  /\ UNCHANGED <<store, known, fooled, mourned, stale, visits, started>>

Accept(t) ==
  /\ t.at = "confirmed"
  /\ tries' = tries \ {t}
  /\ IF Confirms /\ t.from \notin linked[t.to] THEN Belief(t) ELSE UNCHANGED <<linked, fooled>>
  /\ UNCHANGED <<store, known, mourned, stale, visits, started>>

IsReady(p) == Processes \ {p} \subseteq linked[p]

Go(p) ==
  /\ p \notin started
  /\ IF p = 0 THEN IF AwaitsAll THEN \A q \in Processes : IsReady(q) ELSE IsReady(0) ELSE 0 \in started
  /\ started' = started \cup {p}
  /\ UNCHANGED <<store, known, tries, linked, fooled, mourned, stale, visits>>

Finished == started = Processes /\ UNCHANGED vars

Next ==
  \/ \E p \in Processes : Publish(p) \/ Go(p)
  \/ \E p \in Processes, q \in Processes : Fetch(p, q) \/ Dial(p, q)
  \/ \E t \in tries : Check(t) \/ GiveUp(t) \/ Confirm(t) \/ Accept(t)
  \/ Stray \/ Imposture \/ Finished

Learns == \E p \in Processes, q \in Processes : Publish(p) \/ Fetch(p, q)
Dials == \E p \in Processes, q \in Processes : Dial(p, q)
Serves == (\E t \in tries : Check(t) \/ Confirm(t) \/ Accept(t)) \/ (\E p \in Processes : Go(p))

\* Each goes on by itself: a process that dials again and again does not keep another one from the store.
Spec == Init /\ [][Next]_vars /\ WF_vars(Learns) /\ WF_vars(Dials) /\ WF_vars(Serves)

TypeOK == stale <= Stale /\ started \subseteq Processes

\* Who is believed to be at the other end is.
Authentic == ~fooled

\* Nobody is taken for dead: nobody died.
Accuracy == ~mourned

\* Who is told to go can talk to all, and they to it.
Connected == \A p \in started : IsReady(p)

Ends == <>(started = Processes)
====
