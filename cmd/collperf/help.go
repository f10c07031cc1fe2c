package main

import (
	"flag"
	"fmt"
	"io"
	"strings"

	"github.com/collgen/collgen/cmd/collperf/internal/bench"
)

// printHelp prints the text for -h.
func printHelp(f *flag.FlagSet, w io.Writer) {
	fmt.Fprintf(w, `collperf measures the collectives of package fast. Its columns and the meaning of sizes are those of nccl-tests.

    collperf [flags] [operations]

The operations are
%s,
or all. The default is %s. Under a launcher (collrun, mpirun, mpiexec, srun, torchrun) collperf measures the ranks of that
job; otherwise it starts -ranks on this machine. Rank 0 prints.

`, strings.Join(operationNames(), ", "), bench.Operations[0].Name)
	f.SetOutput(w)
	f.PrintDefaults()
	fmt.Fprint(w, `
size is that of the larger buffer of a rank, and count the elements per block. For all-gather, gather, reduce-scatter,
all-to-all and scatter, size includes the blocks of all ranks; for the others, there is one block. algbw is size divided
by time, in 10⁹ bytes per second. busbw is algbw times 2(n-1)/n for all-reduce, times (n-1)/n if there is a block for
each rank, and algbw for the others. It can be compared with the bandwidth of a link or of memory.

Every rank rewrites the whole operand before each call, even if it passes none. Above 32K each call is timed singly,
between the rewriting and a barrier before it. Up to 32K, batches of calls with their rewriting are timed, for at least
1 ms, and the time of the rewriting alone is subtracted. A time is the mean over all ranks. min, median and mean are
those of single calls or of batches, and the columns show the median. p50, p90, p99, p99.9 and max are those of single
calls, and include the cost of the clock; up to 32K, they are taken from up to 10,000 additional calls. ping-pong is
half a round trip between ranks 0 and 1.

#wrong counts the elements, on all ranks, that differ from the expected result or were changed outside it. The exit
status is 0 for success, 1 for a failure or wrong elements, and 2 for a wrong command line.

-format json prints one object per line; go is the format for benchstat. -overlap adds the share of a started call that
is hidden behind arithmetic for as long as the call takes. The share is small if the ranks use all cores, because the
cores move the data.

Instead of operations, collperf measures with

    -limits   the best that this machine can do: copying and reducing (into += from, by fast's kernels) at each level of
              memory on one core and on all, passing a cache line or waking a thread between cores, switching threads,
              TCP, process_vm_readv
    -comms n  the cost of n more communicators: the time to make one, memory, files, and calls on all of them in turn
    -tune     all algorithms and depths, in place and in turn. It prints the smallest table of rules with which no
              measured call is slower than the fastest by more than 5 %, or by more than the spread of its times, up to
              15 %. -b, -e and -f are the sizes of blocks; the limit of a rule is between two of them. A call takes as
              long as on its slowest rank. -keep file continues the table in a file, -for 5m stops after that time, and
              -N 3 measures three rounds. Programs use the table with COLL_TUNE=file; collgen gen -tune file compiles it
              into generated code. -tune -quick measures all operations, with fewer sizes, and drops what is slow
              early. It writes the table to a file in your cache, which programs on this machine use with
              COLL_TUNE=auto.

    collperf -ranks 2,4 -transport shm,tcp -plot curves.svg all-reduce broadcast
    collperf -tune -ranks 2,4 -transport shm,tcp all > table.json
    collrun -n 2 collperf -d double -o max all-reduce
`)
}
