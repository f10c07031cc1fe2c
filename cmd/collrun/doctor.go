//go:build unix && !aix && !solaris

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"github.com/collgen/collgen/cmd/collrun/internal/doctor"
)

// doctorCommand runs collrun doctor.
func doctorCommand(args []string, s streams) int {
	f := flags("collrun doctor", s)
	asJSON := f.Bool("json", false, "print a JSON array of the findings instead")
	if status, goOn := parse(f, args, s, aboutDoctor, func() error { return noArguments(f.Args()) }); !goOn {
		return status
	}
	found := doctor.Examine()
	print := doctor.Print
	if *asJSON {
		print = printJSON
	}
	if err := print(s.out, found); err != nil {
		fmt.Fprintln(s.err, "collrun doctor:", err)
		return statusFailed
	}
	if slices.ContainsFunc(found, func(f doctor.Finding) bool { return f.Fatal }) {
		return statusFailed
	}
	return 0
}

// noArguments returns an error if there are arguments after the flags.
func noArguments(args []string) error {
	if len(args) > 0 {
		return fmt.Errorf("there is no use for %q", args[0])
	}
	return nil
}

// printJSON writes v as indented JSON.
func printJSON[T any](w io.Writer, v T) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

var aboutDoctor = [2]string{`collrun doctor shows what a program that calls fast.Init(ctx, fast.FromEnv()...) would find here, and what it
would use. Run it like a rank, under the same launcher and with the same environment.

    collrun doctor [-json]

`, `
Lines with ! are warnings. The exit status is 1 if such a program could not start.
`}
