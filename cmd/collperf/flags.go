package main

import (
	"errors"
	"flag"
	"io"
	"strconv"
	"strings"

	"github.com/collgen/collgen/cmd/collperf/internal/bench"
	"github.com/collgen/collgen/cmd/collperf/internal/ranks"
	"github.com/collgen/collgen/cmd/collperf/internal/report"
)

// lists are flags whose texts are lists or names.
type lists struct{ ranks, transports, op, element, place, quantized string }

func (o *options) flags(g *lists) *flag.FlagSet {
	f := flag.NewFlagSet("collperf", flag.ContinueOnError)
	f.SetOutput(io.Discard)
	f.StringVar(&g.ranks, "ranks", "", "`numbers` of ranks to start, such as 2 or 2,4 (default: one per core)")
	f.StringVar(&g.transports, "transport", "", "`list` of shm, rdma, tcp and inproc, which is goroutines (default: the "+
		"launcher's, or "+
		ranks.DefaultTransport()+")")
	f.Var(&o.First, "b", "`size` to begin with, in bytes; K, M and G are 1024, 1024² and 1024³")
	f.Var(&o.Last, "e", "`size` to end with")
	f.IntVar(&o.Factor, "f", 2, "`factor` between sizes")
	f.IntVar(&o.Iterations, "n", 20, "`number` of measured calls or, up to 32K, batches of at least 1 ms (at least 11)")
	f.IntVar(&o.WarmUp, "w", 5, "`number` of calls before that are not timed")
	f.IntVar(&o.Check, "c", 1, "`number` of calls after whose results are checked; 0: no check")
	f.IntVar(&o.Cycles, "N", 1, "`number` of times to measure everything")
	f.StringVar(&g.op, "o", "sum", "reduction `operator`: "+strings.Join(opNames(), ", "))
	f.BoolVar(&o.Reproducible, "reproducible", false, "with -o sum or avg: measure reproducible ones")
	f.StringVar(&g.element, "d", "float32", "element `type`: "+strings.Join(elementNames(), ", "))
	f.IntVar(&o.Root, "r", 0, "`rank` of the root")
	f.StringVar(&g.place, "place", "both", "`where` results go: in (place), out (of place) or both")
	f.StringVar(&o.Algorithm, "algorithm", "", "`name` of the algorithm, instead of the one that the table selects")
	f.BoolVar(&o.Hosts, "hosts", false, "measure the calls of package fast/hosts, which go in two levels: on each host, "+
		"and between hosts")
	f.StringVar(&g.quantized, "quantized", "", "with -hosts and -c 0: measure quantized all-reduces, in which hosts "+
		"exchange numbers of a `format`: "+strings.Join(quantizationNames(), ", "))
	f.IntVar(&o.Depth, "depth", 0, "`number` of pieces into which a pipelined algorithm cuts chunks; 0: as the table says")
	f.BoolFunc("pin", "keep rank i on core i, modulo cores (default: if there are enough cores; never goroutines)",
		o.setPin)
	f.BoolFunc("heap", "allocate buffers on the Go heap instead of huge pages", o.setPlacement(bench.GoHeap))
	f.BoolFunc("registered", "allocate buffers with fast.Alloc, which the other ranks of a host read directly",
		o.setPlacement(bench.Registered))
	f.BoolVar(&o.GCLoad, "gc", false, "allocate garbage in another goroutine, so that the collector is busy")
	f.BoolVar(&o.Overlap, "overlap", false, "measure how much of a started call is hidden behind computing")
	f.BoolVar(&o.Idle, "idle", false, "with -overlap: sleep instead of computing, like a rank that waits for a "+
		"disk or a GPU")
	f.BoolVar(&o.limits, "limits", false, "measure instead the best that this machine can do: memory, hand-overs "+
		"between cores, TCP")
	f.BoolVar(&o.tune, "tune", false, "measure every algorithm instead, and write a table for COLL_TUNE and "+
		"collgen gen -tune")
	f.BoolVar(&o.quick, "quick", false, "with -tune: measure less, half a minute for two ranks, and write the table "+
		"for COLL_TUNE=auto")
	f.StringVar(&o.keep, "keep", "", "with -tune: `file` of the table; what it has already is not measured again")
	f.DurationVar(&o.limit, "for", 0, "with -tune -keep: `time` after which nothing more is measured; the same "+
		"command continues")
	f.IntVar(&o.comms, "comms", 0, "measure instead the memory and time that a `number` of communicators takes")
	f.BoolVar(&o.percentiles, "percentiles", false, "show percentiles in text; the other formats always have them")
	f.StringVar(&o.plot, "plot", "", "draw bandwidth and time over the size, with the limits of the machine, into a "+
		"`file`: as PNG if its name ends with .png, as SVG otherwise")
	f.StringVar(&o.format, "format", "text", "`how` to print: "+strings.Join(formatNames(), ", "))
	return f
}

func opNames() []string {
	return names(bench.Reductions, func(r bench.Reduction) string { return r.Op.String() })
}
func elementNames() []string {
	return names(bench.Elements, func(e bench.Element) string { return e.Name })
}
func operationNames() []string {
	return names(bench.Operations, func(o bench.Operation) string { return o.Name })
}
func quantizationNames() []string {
	return names(bench.Quantizations, bench.FormatOf)
}
func formatNames() []string {
	return names(report.Formats, func(f report.Format) string { return f.Name })
}

func names[E any](of []E, name func(E) string) (all []string) {
	for _, e := range of {
		all = append(all, name(e))
	}
	return all
}

func (o *options) setPin(text string) error {
	on, err := strconv.ParseBool(text)
	o.starter.Pin = &on
	return err
}

func (o *options) setPlacement(p bench.Placement) func(text string) error {
	return func(text string) error {
		on, err := strconv.ParseBool(text)
		if on && o.Placement != bench.HugePages && o.Placement != p {
			return errors.New("buffers come either from the Go heap or from fast.Alloc")
		}
		if on {
			o.Placement = p
		}
		return err
	}
}
