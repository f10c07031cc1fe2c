---- MODULE RefGuard ----
\* The guard of an endpoint of shared memory: it keeps the mapping alive while anyone uses it, and whoever leaves last after
\* it was closed gives the mapping back. The rank, "R", steps in and out with each of its Exchanges, and only leaves a mark, by
\* a plain store that its processor may delay (x86-TSO). The others, "F" in Fail and "C" in Close, are counted by locked
\* instructions; the last of them has the system drain the rank's stores (membarrier) before it looks at the mark.
\*
\* If Endless is set, the rank makes Exchanges until it is refused: the mapping is then only given back if the others go on
\* by themselves, whatever the rank does, and need no moment at which it is outside.
\*
\* action    models
\* StepIn    fast/internal/shm:refGuard.mark fast/internal/relatomic:Store
\* LookIn    fast/internal/shm:refGuard.acquireOwn fast/internal/shm:Endpoint.enter
\* Use       fast/internal/shm:Endpoint.Exchange
\* LookOut   fast/internal/shm:refGuard.releaseOwn fast/internal/shm:refGuard.claimFree fast/internal/shm:Endpoint.exit
\* Enter     fast/internal/shm:refGuard.acquire
\* Shut      fast/internal/shm:refGuard.close fast/internal/shm:Endpoint.Close
\* Leave     fast/internal/shm:refGuard.release fast/internal/shm:Endpoint.release fast/internal/shm:Endpoint.Fail
\* Barrier   fast/internal/shm:refGuard.release fast/internal/shm:membarrier
\* LookMark  fast/internal/shm:refGuard.release
\* Free      fast/internal/shm:refGuard.claimFree fast/internal/shm:Endpoint.free
EXTENDS Naturals, Sequences, FiniteSets

CONSTANTS
  Exchanges, \* that the rank makes; twice as many stores fit into its processor's buffer
  Endless,   \* TRUE: it makes them until it is refused
  Plain,     \* TRUE: the rank's mark is a plain store; FALSE: an atomic one, where the system has no membarrier
  Barriers,  \* FALSE: who leaves last does not have the rank's stores drained
  LooksIn,   \* FALSE: the rank does not look whether the guard is closed
  Counts,    \* FALSE: who leaves does not mind those others that are still inside
  MindsMark, \* FALSE: nor the rank
  Once,      \* FALSE: that the mapping was given back is not noted
  LooksOut,  \* FALSE: the rank leaves without looking whether it is the last
  AtOnce     \* FALSE: the guard is closed only at a moment at which the rank's mark is not there

VARIABLES
  pc,     \* what each does next
  left,   \* Exchanges that are still to be made
  mark,   \* as it is in memory
  buf,    \* the rank's stores that are on their way there
  inside, \* how many others are
  shut,
  freed,  \* it is noted
  frees   \* how often the mapping was given back

vars == <<pc, left, mark, buf, inside, shut, freed, frees>>

Others == {"F", "C"}
Actors == Others \cup {"R"}

Init ==
  /\ pc = [p \in Actors |-> IF p = "R" THEN "in" ELSE "enter"]
  /\ left = Exchanges
  /\ mark = 0 /\ buf = <<>> /\ inside = 0 /\ shut = FALSE /\ freed = FALSE /\ frees = 0

At(p, at) == pc[p] = at
Go(p, to) == pc' = [pc EXCEPT ![p] = to]

Mark(v) == IF Plain THEN Len(buf) < 2 * Exchanges /\ buf' = Append(buf, v) /\ UNCHANGED mark ELSE mark' = v /\ UNCHANGED buf

Drain ==
  /\ buf # <<>>
  /\ mark' = buf[1]
  /\ buf' = Tail(buf)
  /\ UNCHANGED <<pc, left, inside, shut, freed, frees>>

StepIn ==
  /\ At("R", "in")
  /\ Mark(1)
  /\ Go("R", "look")
  /\ UNCHANGED <<left, inside, shut, freed, frees>>

LookIn ==
  /\ At("R", "look")
  /\ Go("R", IF shut /\ LooksIn THEN "refused" ELSE "use")
  /\ UNCHANGED <<left, mark, buf, inside, shut, freed, frees>>

\* The Exchange is over, or was refused.
Use ==
  /\ pc["R"] \in {"use", "refused"}
  /\ Mark(0)
  /\ left' = IF At("R", "refused") THEN 0 ELSE IF Endless THEN left ELSE left - 1
  /\ Go("R", "out")
  /\ UNCHANGED <<inside, shut, freed, frees>>

IsOver == shut /\ inside = 0 /\ ~freed
Next1 == IF left = 0 THEN "done" ELSE "in"

LookOut ==
  /\ At("R", "out")
  /\ Go("R", IF LooksOut /\ IsOver THEN "free" ELSE Next1)
  /\ UNCHANGED <<left, mark, buf, inside, shut, freed, frees>>

Enter(p) ==
  /\ At(p, "enter")
  /\ inside' = IF shut THEN inside ELSE inside + 1
  /\ Go(p, IF shut THEN "done" ELSE IF p = "C" THEN "shut" ELSE "leave")
  /\ UNCHANGED <<left, mark, buf, shut, freed, frees>>

Shut ==
  /\ At("C", "shut") /\ (AtOnce \/ mark = 0)
  /\ shut' = TRUE
  /\ Go("C", "leave")
  /\ UNCHANGED <<left, mark, buf, inside, freed, frees>>

Leave(p) ==
  /\ At(p, "leave")
  /\ inside' = inside - 1
  /\ Go(p, IF shut /\ (inside = 1 \/ ~Counts) THEN "barrier" ELSE "done")
  /\ UNCHANGED <<left, mark, buf, shut, freed, frees>>

Barrier(p) ==
  /\ At(p, "barrier") /\ (buf = <<>> \/ ~Barriers)
  /\ Go(p, "mark")
  /\ UNCHANGED <<left, mark, buf, inside, shut, freed, frees>>

LookMark(p) ==
  /\ At(p, "mark")
  /\ Go(p, IF mark = 0 \/ ~MindsMark THEN "free" ELSE "done")
  /\ UNCHANGED <<left, mark, buf, inside, shut, freed, frees>>

\* A compare-and-swap: the rank's waits for its own stores.
Free(p) ==
  /\ At(p, "free") /\ (p = "R" => buf = <<>>)
  /\ IF shut /\ (inside = 0 \/ ~Counts) /\ ~freed THEN freed' = Once /\ frees' = frees + 1 ELSE UNCHANGED <<freed, frees>>
  /\ Go(p, IF p = "R" THEN Next1 ELSE "done")
  /\ UNCHANGED <<left, mark, buf, inside, shut>>

AllDone == buf = <<>> /\ \A p \in Actors : At(p, "done")
Finished == AllDone /\ UNCHANGED vars

Rank == StepIn \/ LookIn \/ Use \/ LookOut \/ Free("R")
Other(p) == Enter(p) \/ (p = "C" /\ Shut) \/ Leave(p) \/ Barrier(p) \/ LookMark(p) \/ Free(p)

Next == Rank \/ Drain \/ Finished \/ \E p \in Others : Other(p)

\* Each goes on by itself, and so do stores on their way to memory.
Spec == Init /\ [][Next]_vars /\ WF_vars(Rank) /\ WF_vars(Drain) /\ \A p \in Others : WF_vars(Other(p))

TypeOK == mark \in 0..1 /\ inside \in 0..2 /\ Len(buf) <= 2 * Exchanges

\* Nobody uses memory that was given back.
Mapped == frees > 0 => (pc["R"] # "use" /\ \A p \in Others : pc[p] \notin {"shut", "leave"})

FreedOnce == frees <= 1

\* The mapping is given back in the end.
Ends == <>(frees > 0)
====
