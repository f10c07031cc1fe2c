package main

import (
	"errors"
	"flag"
	"io"
	"strconv"
	"strings"
)

// given are the flags that are lists, as text.
type given struct{ ranks, transports, op, element, place string }

func (o *options) flags(g *given) *flag.FlagSet {
	f := flag.NewFlagSet("collperf", flag.ContinueOnError)
	f.SetOutput(io.Discard)
	f.StringVar(&g.ranks, "ranks", "", "`numbers` of ranks to start, such as 2 or 2,4 (default: one per core)")
	f.StringVar(&g.transports, "transport", "", "`list` of shm, rdma, tcp and inproc, which is goroutines (default: the launcher's, or "+
		defaultTransport()+")")
	f.Var(&o.first, "b", "`size` to begin with, in bytes; K, M and G are 1024, 1024² and 1024³")
	f.Var(&o.last, "e", "`size` to end with")
	f.IntVar(&o.factor, "f", 2, "`factor` between sizes")
	f.IntVar(&o.iterations, "n", 20, "`number` of times to take: of calls, or up to 32K of batches of at least 1 ms (and at least 11)")
	f.IntVar(&o.warmUp, "w", 5, "`number` of calls before, whose times do not count")
	f.IntVar(&o.check, "c", 1, "`number` of calls after, whose results are checked; 0: do not check")
	f.IntVar(&o.cycles, "N", 1, "`number` of times to do all of it")
	f.StringVar(&g.op, "o", "sum", "reduction `operator`: "+strings.Join(names(foldings, opName), ", "))
	f.StringVar(&g.element, "d", "float32", "element `type`: "+strings.Join(names(elements, elementName), ", "))
	f.IntVar(&o.root, "r", 0, "`rank` of the root")
	f.StringVar(&g.place, "place", "both", "`where` results go: in (place), out (of place) or both")
	f.StringVar(&o.algorithm, "algorithm", "", "`name` of the algorithm to use instead of what the table selects")
	f.IntVar(&o.depth, "depth", 0, "`number` of pieces that a pipelined algorithm cuts chunks into; 0: the table's")
	f.BoolFunc("pin", "keep rank i on core i, modulo cores (default: if there are enough cores; never goroutines)", o.setPin)
	f.BoolFunc("heap", "take buffers from the Go heap, instead of memory on huge pages", o.setHome(goHeap))
	f.BoolFunc("registered", "take buffers from fast.Alloc, which the other ranks of a host read directly", o.setHome(registered))
	f.BoolVar(&o.garbage, "gc", false, "have a goroutine beside that makes garbage to collect")
	f.BoolVar(&o.overlap, "overlap", false, "measure how much of a started call is hidden behind computing")
	f.BoolVar(&o.idle, "idle", false, "with -overlap: sleep instead of computing, as who waits for a disk or a GPU")
	f.BoolVar(&o.limits, "limits", false, "measure what this machine can do at best instead: memory, hand-offs between cores, TCP")
	f.BoolVar(&o.tune, "tune", false, "measure every algorithm instead, and write a table for COLL_TUNE and collgen gen -tune")
	f.StringVar(&o.keep, "keep", "", "with -tune: a `file` for the table; what it has measured already counts, and is not measured again")
	f.DurationVar(&o.limit, "for", 0, "with -tune -keep: begin nothing more after this `time`; the same command goes on")
	f.IntVar(&o.comms, "comms", 0, "measure instead what that `number` of communicators cost, in memory and time")
	f.BoolVar(&o.spread, "percentiles", false, "show percentiles in text, which the other formats always do")
	f.StringVar(&o.plot, "plot", "", "draw bandwidth and time over size, with the machine's limits, to a `file`, as SVG")
	f.StringVar(&o.format, "format", "text", "`how` to print: "+strings.Join(names(formats, formatName), ", "))
	return f
}

func opName(f folding) string          { return f.op.String() }
func elementName(e element) string     { return e.name }
func operationName(o operation) string { return o.name }
func formatName(f format) string       { return f.name }

func (o *options) setPin(text string) error {
	on, err := strconv.ParseBool(text)
	o.pin = &on
	return err
}

func (o *options) setHome(h home) func(text string) error {
	return func(text string) error {
		on, err := strconv.ParseBool(text)
		if on && o.home != hugePages && o.home != h {
			return errors.New("buffers come either from the Go heap or from fast.Alloc")
		}
		if on {
			o.home = h
		}
		return err
	}
}
