package tune

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/collgen/collgen/cmd/collperf/internal/machine"
	"github.com/collgen/collgen/fast"
)

// table returns the text of a table with these samples, and the rules that follow from them.
func table(samples []sample, now time.Time) ([]byte, error) {
	t := fast.Tuning{Machine: machine.Describe(), Date: now.Format(time.DateOnly), Command: command(),
		Rules: rulesOf(measuredOf(samples))}
	text, err := json.MarshalIndent(t, "", "\t")
	if err != nil {
		return nil, err
	}
	text = append(text[:len(text)-len("\n}")], ",\n\t\"samples\": ["...)
	for i, s := range samples {
		line, err := json.Marshal(s)
		if err != nil {
			return nil, err
		}
		if i > 0 {
			text = append(text, ',')
		}
		text = append(append(text, "\n\t\t"...), line...) // one sample per line
	}
	text = append(text, "\n\t]\n}\n"...)
	if _, err := fast.DecodeTuning(bytes.NewReader(text)); err != nil {
		return nil, fmt.Errorf("the table is not valid: %w", err)
	}
	return text, nil
}

// command returns the command line of this process.
func command() string {
	return strings.Join(append([]string{filepath.Base(os.Args[0])}, os.Args[1:]...), " ")
}
