---- MODULE Abort ----
\* How a failure ends a communicator, and how those that are left make the next one: a rank dies, or gives its call up; the
\* others are told, by the control plane or by each other; they agree on who is gone; and they go on without.
\*
\* The control plane tells every rank in the end of each one that has died, and of no other. Messages of ranks that live
\* arrive, in any order; those of a rank that died may be lost. A round of the agreement has the number of its coordinator.
\*
\* action       models
\* GiveUp       fast:Comm.settle fast:Comm.fail
\* Hear         fast:Comm.handleNotice fast:Comm.condemn fast:Comm.tell
\* Detect       fast:Comm.lost fast/internal/agree:Machine.Gone
\* Start        fast:Comm.Shrink fast/internal/agree:Machine.Start
\* SendState    fast/internal/agree:Machine.advance
\* TakeState    fast/internal/agree:Machine.takeState
\* Propose      fast/internal/agree:Machine.propose
\* TakePropose  fast/internal/agree:Machine.Take
\* TakeAdopted  fast/internal/agree:Machine.Take
\* Decide       fast/internal/agree:Machine.decide
\* TakeDecide   fast/internal/agree:Machine.Take
\* TellNext     fast/internal/agree:Machine.advance
\* Enter        fast/internal/membership:shrinking.round
EXTENDS Naturals, Sequences, FiniteSets

CONSTANTS
  N,          \* ranks
  MaxCrashes,
  Begun,      \* TRUE: all have begun to agree at first; FALSE: they are in a call
  Tells,      \* FALSE: who gives up does not tell the others
  Detects,    \* FALSE: nobody is told of a death
  KeepsOld,   \* FALSE: a new coordinator does not care for what was adopted before
  AwaitsAcks, \* FALSE: a coordinator decides before all have adopted
  AwaitsAll,  \* FALSE: a coordinator proposes before all have said something
  Answers,    \* FALSE: who has decided does not answer any more
  Looks,      \* TRUE: who waits looks for messages again and again, so that to wait for ever is no deadlock
  Apart,      \* FALSE: who looks does not hear meanwhile what it is told
  MindsEpoch  \* FALSE: what a rank is told about another communicator counts for this one

VARIABLES
  alive,    \* by rank
  status,   \* by rank: "call", "failed", "agree", "new", or "broken": the new communicator was given up without a reason
  note,     \* by rank: it is being told that the first communicator is given up
  gone,     \* by rank: whom it knows to be dead
  net,      \* messages of the agreement on their way
  adopted,  \* by rank: the round in which it has adopted value, plus 1; 0: in none
  value,    \* by rank: those that the new communicator is without
  told,     \* by rank: the coordinator that has its State or Decide; N: none
  reports,  \* by rank: the States that it has got
  proposed, \* by rank
  acks,     \* by rank: who has adopted what it proposed
  decided,  \* by rank
  looking   \* by rank: it looks for messages

vars == <<alive, status, note, gone, net, adopted, value, told, reports, proposed, acks, decided, looking>>

Ranks == 0..(N - 1)
All(x) == [r \in Ranks |-> x]

Init ==
  /\ alive = All(TRUE) /\ status = All(IF Begun THEN "agree" ELSE "call") /\ note = All(FALSE) /\ gone = All({})
  /\ net = {} /\ adopted = All(0) /\ value = All({}) /\ told = All(N) /\ reports = All({})
  /\ proposed = All(FALSE) /\ acks = All({}) /\ decided = All(FALSE) /\ looking = All(FALSE)

Msg(kind, from, to, round, a, v) == [kind |-> kind, from |-> from, to |-> to, round |-> round, adopted |-> a, value |-> v]

Others(r) == Ranks \ (gone[r] \cup {r})
Coordinator(r) == CHOOSE c \in Ranks \ gone[r] : \A d \in Ranks \ gone[r] : c <= d

agreement == <<net, adopted, value, told, reports, proposed, acks, decided>>

Crash(r) ==
  /\ alive[r] /\ Cardinality({d \in Ranks : ~alive[d]}) < MaxCrashes
  /\ alive' = [alive EXCEPT ![r] = FALSE]
  /\ UNCHANGED <<looking, status, note, gone, agreement>>

\* A rank gives its call up: it tells the others.
Condemn(r) ==
  /\ status' = [status EXCEPT ![r] = "failed"]
  /\ note' = [d \in Ranks |-> IF d = r THEN FALSE ELSE note[d] \/ Tells]

GivesUp(r) ==
  /\ alive[r] /\ status[r] = "call"
  /\ Condemn(r)
  /\ UNCHANGED <<looking, alive, gone, agreement>>

GiveUp == GivesUp(0)

Hears(r) == alive[r] /\ (Apart \/ ~looking[r])

Hear(r) ==
  /\ Hears(r) /\ note[r]
  /\ IF status[r] = "call" THEN Condemn(r)
     ELSE /\ note' = [note EXCEPT ![r] = FALSE]
          /\ status' = IF status[r] = "new" /\ ~MindsEpoch THEN [status EXCEPT ![r] = "broken"] ELSE status
  /\ UNCHANGED <<looking, alive, gone, agreement>>

Detect(r, d) ==
  /\ Detects /\ Hears(r) /\ ~alive[d] /\ d \notin gone[r]
  /\ gone' = [gone EXCEPT ![r] = gone[r] \cup {d}]
  /\ IF status[r] = "call" THEN Condemn(r) ELSE UNCHANGED <<status, note>>
  /\ UNCHANGED <<looking, alive, agreement>>

Start(r) ==
  /\ alive[r] /\ status[r] = "failed"
  /\ status' = [status EXCEPT ![r] = "agree"]
  /\ UNCHANGED <<looking, alive, note, gone, agreement>>

Agrees(r) == alive[r] /\ status[r] = "agree" /\ ~decided[r]

SendState(r) ==
  /\ Agrees(r) /\ Coordinator(r) # r /\ Coordinator(r) # told[r]
  /\ net' = net \cup {Msg("state", r, Coordinator(r), Coordinator(r), adopted[r], IF adopted[r] = 0 THEN gone[r] ELSE value[r])}
  /\ told' = [told EXCEPT ![r] = Coordinator(r)]
  /\ UNCHANGED <<looking, alive, status, note, gone, adopted, value, reports, proposed, acks, decided>>

Deciding(r, to) == {Msg("decide", r, d, 0, 0, value[r]) : d \in to}

TakeState(m) ==
  /\ m.kind = "state" /\ alive[m.to]
  /\ IF decided[m.to]
     THEN net' = (net \ {m}) \cup (IF Answers THEN Deciding(m.to, {m.from}) ELSE {}) /\ UNCHANGED reports
     ELSE net' = net \ {m} /\ reports' = [reports EXCEPT ![m.to] = reports[m.to] \cup {m}]
  /\ UNCHANGED <<looking, alive, status, note, gone, adopted, value, told, proposed, acks, decided>>

Said(r) == {m.from : m \in reports[r]}

\* What was adopted in the highest round, or else all that are known to be gone.
Best(r) ==
  LET rounds == {adopted[r]} \cup {m.adopted : m \in reports[r]}
      best == CHOOSE a \in rounds : \A b \in rounds : b <= a
  IN IF best = 0 \/ ~KeepsOld THEN (gone[r] \cup UNION {m.value : m \in reports[r]}) \ {r}
     ELSE IF best = adopted[r] THEN value[r] ELSE (CHOOSE m \in reports[r] : m.adopted = best).value

Propose(r) ==
  /\ Agrees(r) /\ Coordinator(r) = r /\ ~proposed[r]
  /\ AwaitsAll => Others(r) \subseteq Said(r)
  /\ \E v \in {Best(r)} :
       /\ value' = [value EXCEPT ![r] = v]
       /\ net' = net \cup {Msg("propose", r, d, r, 0, v) : d \in Others(r)}
  /\ proposed' = [proposed EXCEPT ![r] = TRUE]
  /\ adopted' = [adopted EXCEPT ![r] = r + 1]
  /\ UNCHANGED <<looking, alive, status, note, gone, told, reports, acks, decided>>

TakePropose(m) ==
  /\ m.kind = "propose" /\ alive[m.to]
  /\ IF Agrees(m.to) /\ m.from = Coordinator(m.to)
     THEN /\ adopted' = [adopted EXCEPT ![m.to] = m.round + 1]
          /\ value' = [value EXCEPT ![m.to] = m.value]
          /\ net' = (net \ {m}) \cup {Msg("adopted", m.to, m.from, m.round, 0, {})}
     ELSE net' = net \ {m} /\ UNCHANGED <<adopted, value>>
  /\ UNCHANGED <<looking, alive, status, note, gone, told, reports, proposed, acks, decided>>

TakeAdopted(m) ==
  /\ m.kind = "adopted" /\ alive[m.to]
  /\ acks' = [acks EXCEPT ![m.to] = acks[m.to] \cup {m.from}]
  /\ net' = net \ {m}
  /\ UNCHANGED <<looking, alive, status, note, gone, adopted, value, told, reports, proposed, decided>>

Decide(r) ==
  /\ Agrees(r) /\ Coordinator(r) = r /\ proposed[r]
  /\ AwaitsAcks => Others(r) \subseteq acks[r]
  /\ decided' = [decided EXCEPT ![r] = TRUE]
  /\ net' = net \cup Deciding(r, Others(r))
  /\ UNCHANGED <<looking, alive, status, note, gone, adopted, value, told, reports, proposed, acks>>

TakeDecide(m) ==
  /\ m.kind = "decide" /\ alive[m.to]
  /\ IF decided[m.to] THEN net' = net \ {m} /\ UNCHANGED <<decided, value, told>>
     ELSE /\ decided' = [decided EXCEPT ![m.to] = TRUE]
          /\ value' = [value EXCEPT ![m.to] = m.value]
          /\ told' = [told EXCEPT ![m.to] = m.from]
          /\ net' = (net \ {m}) \cup (IF Answers THEN {Msg("decide", m.to, d, 0, 0, m.value) : d \in Said(m.to)} ELSE {})
  /\ UNCHANGED <<looking, alive, status, note, gone, adopted, reports, proposed, acks>>

\* Who has decided tells a new coordinator.
TellNext(r) ==
  /\ Answers /\ alive[r] /\ decided[r] /\ Coordinator(r) # r /\ Coordinator(r) # told[r]
  /\ told' = [told EXCEPT ![r] = Coordinator(r)]
  /\ net' = net \cup Deciding(r, {Coordinator(r)})
  /\ UNCHANGED <<looking, alive, status, note, gone, adopted, value, reports, proposed, acks, decided>>

\* What is on its way to the dead, or from them, may be lost.
Lose(m) ==
  /\ ~alive[m.to] \/ ~alive[m.from]
  /\ net' = net \ {m}
  /\ UNCHANGED <<looking, alive, status, note, gone, adopted, value, told, reports, proposed, acks, decided>>

Enter(r) ==
  /\ alive[r] /\ status[r] = "agree" /\ decided[r]
  /\ status' = [status EXCEPT ![r] = "new"]
  /\ UNCHANGED <<looking, alive, note, gone, agreement>>

Look(r) ==
  /\ Looks /\ alive[r] /\ status[r] \in {"call", "agree"}
  /\ looking' = [looking EXCEPT ![r] = ~looking[r]]
  /\ UNCHANGED <<alive, status, note, gone, agreement>>

Settled == \A r \in Ranks : alive[r] => status[r] = "new"
Finished == Settled /\ UNCHANGED vars

\* What a rank does by itself, with a message that has come, and on what it is told.
Acts(r) == Start(r) \/ SendState(r) \/ Propose(r) \/ Decide(r) \/ TellNext(r) \/ Enter(r)
Gets(r) == \E m \in net : m.to = r /\ (TakeState(m) \/ TakePropose(m) \/ TakeAdopted(m) \/ TakeDecide(m))
IsTold(r) == Hear(r) \/ \E d \in Ranks : Detect(r, d)

Next ==
  \/ \E r \in Ranks : Crash(r) \/ Acts(r) \/ Gets(r) \/ IsTold(r) \/ Look(r)
  \/ \E m \in net : Lose(m)
  \/ GiveUp \/ Finished

\* Each rank goes on by itself, also while others look again and again, and so does what carries its messages and its news.
\* Nothing has to die or to be lost.
Spec ==
  /\ Init /\ [][Next]_vars /\ WF_vars(GiveUp)
  /\ \A r \in Ranks : WF_vars(Acts(r)) /\ WF_vars(Gets(r)) /\ WF_vars(IsTold(r))

TypeOK == Cardinality({r \in Ranks : ~alive[r]}) <= MaxCrashes

\* Whom one takes for dead is.
Accuracy == \A r \in Ranks : \A d \in value[r] : ~alive[d]

\* No two ranks have decided differently, those included that died afterwards.
Agreement == \A r \in Ranks, s \in Ranks : (decided[r] /\ decided[s]) => (value[r] = value[s])

\* Who is not taken for dead has taken part.
Validity == \A r \in Ranks : decided[r] => \A d \in Ranks \ value[r] : status[d] \in {"agree", "new", "broken"}

\* The new communicator is given up by nobody for what happened to the first.
NoStray == \A r \in Ranks : status[r] # "broken"

Ends == <>Settled

\* Every rank that lives learns of every death.
Learns == \A r \in Ranks, d \in Ranks : ~alive[d] ~> (d \in gone[r] \/ ~alive[r])
====
