package main

import (
	"flag"
	"fmt"
	"io"
	"strings"
)

// explain prints what -h asks for.
func explain(f *flag.FlagSet, w io.Writer) {
	fmt.Fprintf(w, `collperf measures the collectives of package fast, with the columns and the meaning of sizes of nccl-tests.

    collperf [flags] [operations]

Operations are all, or some of
%s;
without any, it is %s. As a rank of a job - under collrun, mpirun, mpiexec, srun, torchrun - it measures that job; else it
starts -ranks on this machine. Rank 0 prints.

`, strings.Join(names(operations, operationName), ", "), operations[0].name)
	f.SetOutput(w)
	f.PrintDefaults()
	fmt.Fprint(w, `
The size is that of the larger buffer that a rank passes, and count the elements per block: of all-gather and gather the
size is that of all blocks together, as of reduce-scatter, all-to-all and scatter; of the others, one block is all. algbw is
size over time, in 10⁹ bytes per second. busbw is algbw times 2(n-1)/n for all-reduce, (n-1)/n where blocks are per rank,
and 1 for the others, so that it can be compared with what a link or memory carries.

The whole operand is rewritten before every call, on every rank, also on those that pass none. Above 32K there is a clock
around each call, with the rewriting before it and a barrier between the two. Up to 32K it is a batch of calls with their
rewriting, at least 1 ms long, less the time of the rewriting alone. A time is the mean over all ranks of one call or
batch; min, median and mean are of these times, and the columns show the median. p50, p90, p99, p99.9 and max are of
single calls, with the clock's own cost in them: up to 32K, of up to 10,000 further calls. ping-pong is half a round trip
between ranks 0 and 1.

#wrong counts the elements, on all ranks, that differ from the result as it is computed here, and those changed that no
result is in. The exit status is 0 if all is well, 1 if something is not, and 2 if the command line is wrong.

-format json is one object per line, go is what benchstat reads. -overlap adds the share of a started call that was
hidden behind arithmetic which takes as long as the call: little, where the ranks take all cores, because it is the cores
that move the data. In place of the times of operations,

    -limits   has what this machine can do at best: copying and reducing (into += from, by fast's kernels) at each level of
              memory on one core and all, a cache line and a futex from one core to another, a switch of threads, TCP,
              process_vm_readv
    -comms n  has what n further communicators cost: the time to make one, memory, files, and calls on all of them in turn
    -tune     takes turns with all algorithms and depths, in place, and writes the fewest rules by which no measured call
              is more than 5 % slower than the fastest, or than its times are spread, up to 15 %. -b, -e and -f say which
              blocks; a rule's limit lies between two of them. A call takes as long as its last rank. With -keep file it goes
              on with the table in a file, -for 5m at a time, and -N 3 measures three rounds. COLL_TUNE=file has every program
              follow the table, and collgen gen -tune file makes code of it.

    collperf -ranks 2,4 -transport shm,tcp -plot curves.svg all-reduce broadcast
    collperf -tune -ranks 2,4 -transport shm,tcp all > table.json
    collrun -n 2 collperf -d double -o max all-reduce
`)
}
