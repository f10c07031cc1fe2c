package program

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"
)

// Progress is the line on a terminal that shows what a program is doing. On anything else it writes nothing, unless
// Verbose is set. A nil Progress writes nothing.
type Progress struct {
	// Verbose writes each stage on a separate line if w is no terminal.
	Verbose bool

	w        io.Writer
	terminal bool
	width    int // of the text on the line
	last     time.Time
}

// NewProgress returns the progress line of w.
func NewProgress(w io.Writer) *Progress {
	p := &Progress{w: w}
	if f, ok := w.(*os.File); ok {
		info, err := f.Stat()
		p.terminal = err == nil && info.Mode()&os.ModeCharDevice != 0
	}
	return p
}

// Update replaces the line, a few times per second at most.
func (p *Progress) Update(format string, args ...any) {
	if p != nil && p.terminal && time.Since(p.last) > time.Second/8 {
		p.last = time.Now()
		p.replace(fmt.Sprintf(format, args...))
	}
}

// Stage replaces the line at once. Programs call it when a stage begins or ends.
func (p *Progress) Stage(format string, args ...any) {
	switch {
	case p == nil:
	case p.terminal:
		p.replace(fmt.Sprintf(format, args...))
	case p.Verbose:
		fmt.Fprintf(p.w, format+"\n", args...)
	}
}

func (p *Progress) replace(line string) {
	fmt.Fprintf(p.w, "\r%s%s", line, strings.Repeat(" ", max(0, p.width-len(line))))
	p.width = len(line)
}

// Clear empties the line, so that something else can be written there.
func (p *Progress) Clear() {
	if p != nil && p.width > 0 {
		fmt.Fprintf(p.w, "\r%s\r", strings.Repeat(" ", p.width))
		p.width = 0
	}
}
