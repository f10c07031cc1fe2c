package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"
)

// progress is the line on a terminal that says what is being measured. A nil one, and one elsewhere, says nothing.
type progress struct {
	w     io.Writer
	width int // of what stands on the line
	last  time.Time
}

func newProgress(w io.Writer) *progress {
	if f, ok := w.(*os.File); ok {
		if info, err := f.Stat(); err == nil && info.Mode()&os.ModeCharDevice != 0 {
			return &progress{w: w}
		}
	}
	return nil
}

// update replaces the line, a few times per second at most.
func (p *progress) update(format string, args ...any) {
	if p == nil || time.Since(p.last) < time.Second/8 {
		return
	}
	p.clear()
	line := fmt.Sprintf(format, args...)
	fmt.Fprint(p.w, line)
	p.width, p.last = len(line), time.Now()
}

// clear empties the line.
func (p *progress) clear() {
	if p != nil && p.width > 0 {
		fmt.Fprintf(p.w, "\r%s\r", strings.Repeat(" ", p.width))
		p.width = 0
	}
}
