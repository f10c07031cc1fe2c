package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/collgen/collgen/internal/program"
)

// command is a command of collgen.
type command struct {
	name, args, summary string
	prepare             func(c *call) runner // registers the flags of the command
}

// runner runs a command after its flags were parsed.
type runner interface {
	run(ctx context.Context) error
}

// call is one run of a command, with the flags that commands share.
type call struct {
	flags          *flag.FlagSet
	args           []string // besides flags
	command        []string // after --
	line           []string // the command line before --
	stdout, stderr io.Writer

	json      bool
	verbose   bool
	dir       string // of the package whose algorithms are meant
	catalogue bool   // the built-in algorithms are meant
	progress  *program.Progress
}

// usageError is an error of the command line.
type usageError struct{ error }

// writtenError is an error that what the command has written tells of, also in JSON.
type writtenError struct{ error }

// Unwrap returns the error.
func (e writtenError) Unwrap() error { return e.error }

func newCall(cmd command, stdout, stderr io.Writer) (*call, runner) {
	c := &call{flags: flag.NewFlagSet("collgen "+cmd.name, flag.ContinueOnError), stdout: stdout, stderr: stderr}
	c.flags.SetOutput(io.Discard)
	c.flags.BoolVar(&c.json, "json", false, "write JSON")
	c.flags.BoolVar(&c.verbose, "v", false, "show progress also where standard error is no terminal")
	c.progress = program.NewProgress(stderr)
	return c, cmd.prepare(c)
}

// packageFlags registers the flags that select a package's algorithms.
func (c *call) packageFlags() {
	c.flags.StringVar(&c.dir, "package", "", "the algorithms of the package in `directory`")
	c.flags.BoolVar(&c.catalogue, "catalogue", false, "the built-in algorithms, also where the package in this folder "+
		"has its own")
}

// tuneFlag registers the flag for the file of a table of rules.
func (c *call) tuneFlag(file *string) {
	c.flags.StringVar(file, "tune", "", "put the rules in `file`, as of collperf -tune, before those that there are")
}

// explainer is a runner that has more to say than what its flags are.
type explainer interface {
	explain() string
}

func (cmd command) help(c *call, r runner, w io.Writer) {
	fmt.Fprintf(w, "collgen %s [flags] %s: %s.\n\n", cmd.name, cmd.args, cmd.summary)
	c.flags.SetOutput(w)
	c.flags.PrintDefaults()
	if x, ok := r.(explainer); ok {
		fmt.Fprintf(w, "\n%s", x.explain())
	}
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
	c.progress.Verbose = c.verbose
	return nil
}

// isSet reports whether the command line has the flag called name.
func (c *call) isSet(name string) bool {
	set := false
	c.flags.Visit(func(f *flag.Flag) { set = set || f.Name == name })
	return set
}

// changed returns those of the flags with these names that differ from their defaults, as words of a shell.
func (c *call) changed(names ...string) (words []string) {
	for _, name := range names {
		f := c.flags.Lookup(name)
		switch value := f.Value.String(); value {
		case f.DefValue:
		case "true":
			words = append(words, "-"+name)
		default:
			words = append(words, "-"+name, quoted(value))
		}
	}
	return words
}

// arg returns the argument, or otherwise.
func (c *call) arg(otherwise string) string {
	if len(c.args) == 0 {
		return otherwise
	}
	return c.args[0]
}

func writeJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// relativeName is path as seen from here, where that is shorter.
func relativeName(path string) string {
	here, err := os.Getwd()
	if err != nil {
		return path
	}
	if rel, err := filepath.Rel(here, path); err == nil && len(rel) < len(path) {
		return rel
	}
	return path
}
