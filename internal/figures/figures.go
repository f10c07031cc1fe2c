// Package figures has what all pages of measured figures need: where in a Markdown file they go, what they were
// measured on, and how sizes are written.
package figures

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// Replace writes anew what stands between the lines begin and end of the file at path, which have their line breaks. A
// file that does not have both is an error, and stays as it is.
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

// Here returns when and on what this is: the date, the processor, the system, and the version of Go.
func Here() string {
	return fmt.Sprintf("%s, %d cores of %s, %s/%s, %s", time.Now().Format(time.DateOnly), runtime.NumCPU(), processor(),
		runtime.GOOS, runtime.GOARCH, runtime.Version())
}

// processor returns its name, where the system tells it.
func processor() string {
	name := "a processor without a name"
	text, _ := os.ReadFile("/proc/cpuinfo")
	for line := range strings.Lines(string(text)) {
		if key, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == "model name" {
			name = strings.TrimSpace(value)
		}
	}
	return name
}

// Size returns a number of bytes as collperf writes it, such as 8, 64K and 1M; "-" is none.
func Size(bytes int) string {
	switch {
	case bytes == 0:
		return "-"
	case bytes%(1<<20) == 0:
		return strconv.Itoa(bytes>>20) + "M"
	case bytes%(1<<10) == 0:
		return strconv.Itoa(bytes>>10) + "K"
	}
	return strconv.Itoa(bytes)
}
