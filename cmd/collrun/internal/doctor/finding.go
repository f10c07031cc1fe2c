//go:build unix && !aix && !solaris

package doctor

import (
	"bytes"
	"fmt"
	"io"
	"text/tabwriter"
)

// Finding is one fact about the machine, or about this process's place in a job.
type Finding struct {
	Name    string `json:"name"`
	Value   any    `json:"value"`             // for programs
	Text    string `json:"text"`              // for people
	Warning string `json:"warning,omitempty"` // what is wrong, if anything
	Fatal   bool   `json:"fatal,omitempty"`   // a program could not start as a rank
}

// Print writes findings as text, in a single write, because several ranks may share a pipe.
func Print(w io.Writer, found []Finding) error {
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

// unknown returns the finding for something that could not be found out.
func unknown(name string, err error) Finding {
	return Finding{Name: name, Text: "unknown", Warning: err.Error()}
}
