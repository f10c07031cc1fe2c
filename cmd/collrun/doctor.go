//go:build unix && !aix && !solaris

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
)

// finding is one thing that the doctor found out.
type finding struct {
	Name    string `json:"name"`
	Value   any    `json:"value"`             // for programs
	Text    string `json:"text"`              // for people
	Warning string `json:"warning,omitempty"` // what is wrong with it, if anything is
	Fatal   bool   `json:"fatal,omitempty"`   // that keeps a program from starting as a rank
}

// examinations are what the doctor does, in the order of its report.
var examinations = []func() []finding{system, processors, openFiles, lockedMemory, sharedMemory, othersMemory, rdmaPorts, theJob}

// probeName is the Args[0] of a process that the doctor starts: no command line makes collrun one.
const probeName = "collrun: probe"

func doctorCommand(args []string, s streams) int {
	f := flags("collrun doctor", s)
	asJSON := f.Bool("json", false, "print a JSON array of the findings instead")
	if status, goOn := parse(f, args, s, aboutDoctor, func() error { return noArguments(f.Args()) }); !goOn {
		return status
	}
	var found []finding
	for _, examine := range examinations {
		found = append(found, examine()...)
	}
	print := printFindings
	if *asJSON {
		print = encode
	}
	if err := print(s.out, found); err != nil {
		fmt.Fprintln(s.err, "collrun doctor:", err)
		return statusFailed
	}
	if slices.ContainsFunc(found, func(f finding) bool { return f.Fatal }) {
		return statusFailed
	}
	return 0
}

// noArguments refuses arguments after the flags.
func noArguments(args []string) error {
	if len(args) > 0 {
		return fmt.Errorf("there is no use for %q", args[0])
	}
	return nil
}

// printFindings returns the report for people, in a single write: several ranks may report to the same pipe.
func printFindings(w io.Writer, found []finding) error {
	var report bytes.Buffer
	table := tabwriter.NewWriter(&report, 0, 0, 2, ' ', 0)
	for _, f := range found {
		fmt.Fprintf(table, "%s\t%s\n", f.Name, f.Text)
		if f.Warning != "" {
			fmt.Fprintf(table, "\t! %s\n", f.Warning)
		}
	}
	_ = table.Flush() // into memory
	_, err := report.WriteTo(w)
	return err
}

// encode returns the report for programs.
func encode[T any](w io.Writer, found T) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(found)
}

var aboutDoctor = [2]string{`collrun doctor says what a program that calls fast.Init(ctx, fast.FromEnv()...) would find here,
and what it would use: run it as a rank is run, under the same launcher and with the same environment.

    collrun doctor [-json]

`, `
Lines with ! are warnings. The status is 1 if such a program could not start.
`}
