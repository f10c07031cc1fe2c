// Package figures helps programs that print measurements: with medians, sizes, a description of the machine, and tables
// in Markdown files.
package figures

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// Replace replaces the text between the lines begin and end of a file, which include their line breaks. If the file
// does not have both lines, Replace returns an error and does not change it.
func Replace(path, begin, end string, write func(io.Writer) error) error {
	old, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	before, rest, ok := bytes.Cut(old, []byte(begin))
	_, after, ok2 := bytes.Cut(rest, []byte(end))
	if !ok || !ok2 {
		return fmt.Errorf("%s has no place for the figures: the lines %q and %q", path, begin, end)
	}
	out := bytes.NewBuffer(append(bytes.Clone(before), begin...))
	if err := write(out); err != nil {
		return err
	}
	out.WriteString(end)
	out.Write(after)
	return os.WriteFile(path, out.Bytes(), 0o644)
}

// Here returns the circumstances of a measurement: the date, the processor, the system, and the version of Go.
func Here() string {
	return fmt.Sprintf("%s, %d cores of %s, %s/%s, %s", time.Now().Format(time.DateOnly), runtime.NumCPU(),
		cmp.Or(Processor(), "a processor without a name"), runtime.GOOS, runtime.GOARCH, runtime.Version())
}

// Processor returns the name of the processor, or "" if it is unknown.
func Processor() string {
	text, _ := os.ReadFile("/proc/cpuinfo")
	for line := range strings.Lines(string(text)) {
		if key, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// Median returns the middle one of sorted values, or the mean of the two in the middle; 0 if there are none.
func Median(sorted []float64) float64 {
	n := len(sorted)
	if n == 0 {
		return 0
	}
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

// Number returns x with four significant digits, or with all digits of its integer part.
func Number(x float64) string {
	if x >= 1000 || x <= -1000 {
		return strconv.FormatFloat(x, 'f', 0, 64)
	}
	return strconv.FormatFloat(x, 'g', 4, 64)
}
