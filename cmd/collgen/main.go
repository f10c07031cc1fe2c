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
//	collgen view [flags] algorithm         write a page that shows a schedule at work, or a counterexample
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
	"syscall"

	_ "github.com/collgen/collgen/internal/lessgc" // proofs leave much garbage
	"github.com/collgen/collgen/verify"
)

// The exit statuses.
const (
	statusFailed = 1
	statusUsage  = 2
)

var commands = []command{
	{"gen", "[directory]", "prove the algorithms of a package and write their Go", prepareGen},
	{"check", "[directory]", "say what gen would change, and fail if there is anything", prepareCheck},
	{"list", "[pattern]", "show algorithms: what they achieve, what they cost", prepareList},
	{"explain", "algorithm", "show one algorithm in detail, or what calls of a primitive get, and why", prepareExplain},
	{"verify", "[pattern]", "prove algorithms", prepareVerify},
	{"prove", "[pattern]", "prove algorithms for every number of ranks, with solvers of SMT-LIB", prepareProve},
	{"conform", "-- command", "test somebody else's collectives against the specifications", prepareConform},
	{"replay", "directory", "compare what the ranks of a run have written down with the proved schedules", prepareReplay},
	{"view", "algorithm", "write a page that shows a schedule at work, or a counterexample", prepareView},
	{"cost", "pattern", "predict how long algorithms take on a machine that need not be at hand", prepareCost},
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
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
	c, r := newCall(cmd, stdout, stderr)
	if i := slices.Index(args, "--"); i >= 0 && cmd.name == "conform" {
		args, c.command = args[:i], args[i+1:]
	}
	c.line = args
	err := c.parse(args)
	if err == nil {
		err = r.run(ctx)
	}
	c.progress.Clear()
	var wrong usageError
	switch {
	case err == nil:
		return 0
	case errors.Is(err, flag.ErrHelp):
		cmd.help(c, r, stdout)
		return 0
	case errors.As(err, &wrong):
		fmt.Fprintf(stderr, "collgen %s: %v\ncollgen %s -h explains the command line.\n", cmd.name, err, cmd.name)
		return statusUsage
	}
	fmt.Fprintln(stderr, err)
	// After these three errors, everything was written already.
	if c.json && !errors.Is(err, errDiffers) && !errors.As(err, new(writtenError)) && !errors.Is(err, errUnguarded) {
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
