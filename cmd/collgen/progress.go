package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"
)

// progress is the line on standard error that says what is going on. On a terminal it is one line that changes;
// elsewhere, with -v, every stage gets a line of its own.
type progress struct {
	w        io.Writer
	shown    bool
	terminal bool
	width    int // of what stands on the line
	last     time.Time
}

func newProgress(c *call) *progress {
	f, ok := c.stderr.(*os.File)
	p := &progress{w: c.stderr}
	if ok {
		info, err := f.Stat()
		p.terminal = err == nil && info.Mode()&os.ModeCharDevice != 0
	}
	p.shown = p.terminal
	return p
}

// update replaces the line on a terminal, a few times per second at most.
func (p *progress) update(format string, args ...any) {
	if p.shown && p.terminal && time.Since(p.last) > time.Second/8 {
		p.last = time.Now()
		p.write(fmt.Sprintf(format, args...))
	}
}

// done says that something is done.
func (p *progress) done(format string, args ...any) {
	switch {
	case !p.shown:
	case p.terminal:
		p.write(fmt.Sprintf(format, args...))
	default:
		fmt.Fprintf(p.w, format+"\n", args...)
	}
}

func (p *progress) write(line string) {
	fmt.Fprintf(p.w, "\r%s%s", line, strings.Repeat(" ", max(0, p.width-len(line))))
	p.width = len(line)
}

// clear empties the line on a terminal.
func (p *progress) clear() {
	if p.shown && p.terminal && p.width > 0 {
		fmt.Fprintf(p.w, "\r%s\r", strings.Repeat(" ", p.width))
		p.width = 0
	}
}
