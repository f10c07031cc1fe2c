// Command collgen proves collective algorithms and generates the Go that carries them out.
//
//	collgen gen [flags] [directory]        prove the algorithms of a package and write their Go
//	collgen check [flags] [directory]      say what gen would change, and fail if there is anything
//	collgen list [flags] [pattern]         show algorithms: what they achieve, what was proved, what they cost
//	collgen explain [flags] algorithm      show one in detail, with its steps for one call
//	collgen explain [flags] primitive      say which of its algorithms a call gets, and why
//	collgen verify [flags] [pattern]       prove algorithms; with -spec, change what they are proved against
//	collgen prove [flags] [pattern]        prove algorithms for every size, with solvers of SMT-LIB
//	collgen conform [flags] -- command     test somebody else's collectives against the specifications
//	collgen cost [flags] pattern           predict how long they take on a machine that need not be at hand
//	collgen replay [flags] directory       compare what the ranks of a run have written down with the proved schedules
//
// In the folder of package fast the algorithms are those of this module's catalogue. Anywhere else they are the
// package's own: its variables of type gen.Algorithm, and the primitives that these carry out. Where there are none,
// list, explain and verify show the catalogue's, and with -catalogue everywhere. A program that uses collgen as a tool
// (go get -tool github.com/collgen/collgen/cmd/collgen) declares them and says
//
//	//go:generate go tool collgen gen
//
// Nothing is written unless everything is proved.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"

	"github.com/collgen/collgen/selection"
	"github.com/collgen/collgen/verify"
)

// The exit statuses.
const (
	statusFailed = 1
	statusUsage  = 2
)

// command is one of collgen's.
type command struct {
	name, args, summary string
	run                 func(ctx context.Context, c *call) error
}

var commands = []command{
	{"gen", "[directory]", "prove the algorithms of a package and write their Go", runGen},
	{"check", "[directory]", "say what gen would change, and fail if there is anything", runCheck},
	{"list", "[pattern]", "show algorithms: what they achieve, what they cost", runList},
	{"explain", "algorithm", "show one algorithm in detail, or what calls of a primitive get, and why", runExplain},
	{"verify", "[pattern]", "prove algorithms", runVerify},
	{"prove", "[pattern]", "prove algorithms for every number of ranks, with solvers of SMT-LIB", runProve},
	{"conform", "-- command", "test somebody else's collectives against the specifications", runConform},
	{"replay", "directory", "compare what the ranks of a run have written down with the proved schedules", runReplay},
	{"cost", "pattern", "predict how long algorithms take on a machine that need not be at hand", runCost},
}

// call is one run of a command.
type call struct {
	flags          *flag.FlagSet
	args           []string // besides flags
	command        []string // after --
	stdout, stderr io.Writer

	json       bool
	verbose    bool
	dir        string // of the package whose algorithms are meant
	catalogue  bool   // the built-in ones are
	sizes      sizeRange
	root       int
	peer       int
	depth      int
	bytes      int    // of a block
	tune       string // the file of a table of rules; "": none
	transport  string // "": every one
	perHost    int    // ranks on one host; 0: all
	tla        bool   // explain writes the schedule's modules of TLA+
	svg        string // the file that verify draws a counterexample in; "": none
	spec       bool   // verify changes specifications, and has examples find out
	costing    costing
	every      everySize
	conforming conforming
	progress   *progress
}

// usageError is an error of the command line.
type usageError struct{ error }

// errDiffers says that check found something.
var errDiffers = errors.New("the generated files are not what collgen gen would write")

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	status := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(status)
}

// run runs collgen with everything that it depends on, and its exit status.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	if len(args) == 0 {
		usage(stderr)
		return statusUsage
	}
	name := args[0]
	if slices.Contains([]string{"help", "-h", "-help", "--help"}, name) {
		if len(args) == 1 {
			usage(stdout)
			return 0
		}
		name, args = args[1], []string{args[1], "-h"}
	}
	i := slices.IndexFunc(commands, func(c command) bool { return c.name == name })
	if i < 0 {
		fmt.Fprintf(stderr, "collgen: there is no command %q; collgen help lists them\n", name)
		return statusUsage
	}
	return commands[i].start(ctx, args[1:], stdout, stderr)
}

func usage(w io.Writer) {
	fmt.Fprint(w, "collgen proves collective algorithms and generates the Go that carries them out.\n\n")
	for _, c := range commands {
		fmt.Fprintf(w, "  collgen %-8s %-12s %s\n", c.name, c.args, c.summary)
	}
	fmt.Fprint(w, `
collgen help COMMAND explains one. A pattern is a name, such as allreduce or allreduce/ring, or the beginning of several;
none means all. The exit status is 0 if all is well, 1 if something is not, and 2 if the command line is wrong.
`)
}

// start parses the command line, in which flags may stand anywhere, and runs the command.
func (cmd command) start(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	c := newCall(cmd, stdout, stderr)
	if i := slices.Index(args, "--"); i >= 0 && cmd.name == "conform" {
		args, c.command = args[:i], args[i+1:]
	}
	err := c.parse(args)
	if err == nil {
		err = cmd.run(ctx, c)
	}
	c.progress.clear()
	var wrong usageError
	switch {
	case err == nil:
		return 0
	case errors.Is(err, flag.ErrHelp):
		cmd.help(c, stdout)
		return 0
	case errors.As(err, &wrong):
		fmt.Fprintf(stderr, "collgen %s: %v\ncollgen %s -h explains the command line.\n", cmd.name, err, cmd.name)
		return statusUsage
	}
	fmt.Fprintln(stderr, err)
	if c.json && !errors.Is(err, errDiffers) && !errors.Is(err, errNotConforming) && !errors.Is(err, errUnguarded) { // which have written everything already
		c.writeFailure(err)
	}
	return statusFailed
}

// writeFailure writes what went wrong as JSON: the text and, if there is one, the first counterexample.
func (c *call) writeFailure(err error) {
	var failure struct {
		Error   string          `json:"error"`
		Failure *verify.Failure `json:"failure,omitempty"`
	}
	failure.Error = err.Error()
	errors.As(err, &failure.Failure)
	if err := writeJSON(c.stdout, failure); err != nil {
		fmt.Fprintln(c.stderr, err)
	}
}

func newCall(cmd command, stdout, stderr io.Writer) *call {
	c := &call{flags: flag.NewFlagSet("collgen "+cmd.name, flag.ContinueOnError), stdout: stdout, stderr: stderr}
	c.flags.SetOutput(io.Discard)
	c.flags.BoolVar(&c.json, "json", false, "write JSON")
	c.flags.BoolVar(&c.verbose, "v", false, "show progress also where standard error is no terminal")
	switch cmd.name {
	case "gen", "check", "conform":
	default:
		c.flags.StringVar(&c.dir, "package", "", "the algorithms of the package in `directory`")
		c.flags.BoolVar(&c.catalogue, "catalogue", false, "the built-in algorithms, also where the package in this folder has its own")
	}
	switch cmd.name {
	case "gen", "check", "explain":
		c.flags.StringVar(&c.tune, "tune", "", "put the rules in `file`, as of collperf -tune, before those that there are")
	}
	switch cmd.name {
	case "explain":
		c.sizes = sizeRange{4, 4}
		c.flags.IntVar(&c.root, "root", 0, "`rank` of the root")
		c.flags.IntVar(&c.peer, "peer", 1, "`rank` of the receiver")
		c.flags.IntVar(&c.depth, "depth", 2, "`number` of pieces of a pipelined algorithm")
		c.flags.Var(&c.sizes, "n", "`number` of ranks")
		c.flags.Var(&c.sizes, "size", "`number` of ranks, as -n")
		c.flags.BoolVar(&c.tla, "tla", false, "write the schedule and its promise as modules of TLA+, which tlaplus/models/Exec.tla runs")
		c.flags.IntVar(&c.bytes, "bytes", 0, "of a primitive: why a call with so many `bytes` in a block gets its algorithm")
		c.flags.StringVar(&c.transport, "transport", "", "of a primitive: over this `transport` alone: "+strings.Join(selection.Transports, ", "))
		c.flags.IntVar(&c.perHost, "ranks-per-host", 0, "of a primitive: the `number` of ranks on the host that has the most; 0: all")
	case "gen", "check":
		c.sizes = sizeRange{1, maxSize}
		c.flags.Var(&c.sizes, "n", "prove for these `numbers` of ranks, from 1 on: calls with more are refused unless collgen prove covers them")
	case "list":
		c.sizes = sizeRange{1, maxSize}
		c.flags.Var(&c.sizes, "n", "`numbers` of ranks to prove the algorithms for, whatever is proved already")
	case "cost":
		c.costFlags()
	case "prove":
		c.everySizeFlags()
	case "conform":
		c.conformFlags()
	case "verify":
		c.sizes = sizeRange{1, maxSize}
		c.flags.Var(&c.sizes, "n", "`numbers` of ranks")
		c.flags.StringVar(&c.svg, "svg", "", "draw the counterexample, if there is one, in `file`")
		c.flags.BoolVar(&c.spec, "spec", false, "change each part of the specifications, and show the changes that no example of the package refuses")
	}
	c.progress = newProgress(c)
	return c
}

func (cmd command) help(c *call, w io.Writer) {
	fmt.Fprintf(w, "collgen %s [flags] %s: %s.\n\n", cmd.name, cmd.args, cmd.summary)
	c.flags.SetOutput(w)
	c.flags.PrintDefaults()
}

// parse reads flags and arguments in any order.
func (c *call) parse(args []string) error {
	for len(args) > 0 {
		if err := c.flags.Parse(args); err != nil {
			if errors.Is(err, flag.ErrHelp) {
				return err
			}
			return usageError{err}
		}
		args = c.flags.Args()
		if len(args) > 0 {
			c.args = append(c.args, args[0])
			args = args[1:]
		}
	}
	if len(c.args) > 1 {
		return usageError{fmt.Errorf("one argument is enough: %q", c.args)}
	}
	c.progress.shown = c.progress.shown || c.verbose
	return nil
}

// isSet reports whether the command line has the flag called name.
func (c *call) isSet(name string) bool {
	set := false
	c.flags.Visit(func(f *flag.Flag) { set = set || f.Name == name })
	return set
}

// arg returns the argument, or otherwise.
func (c *call) arg(otherwise string) string {
	if len(c.args) == 0 {
		return otherwise
	}
	return c.args[0]
}
