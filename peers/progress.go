package main

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/collgen/collgen/internal/figures"
)

// progress writes one line over and over: what is being measured, and about how long all of it will take.
type progress struct {
	w     io.Writer // nil: nothing is written
	start time.Time
	done  int
}

// newProgress writes to w if that is a terminal: elsewhere, a line that is overwritten would be many.
func newProgress(w io.Writer) *progress {
	p := &progress{start: time.Now()}
	if f, ok := w.(*os.File); ok {
		if info, err := f.Stat(); err == nil && info.Mode()&os.ModeCharDevice != 0 {
			p.w = w
		}
	}
	return p
}

// next says that a measurement begins, when so many are left, itself included.
func (p *progress) next(c contest, who name, left int) {
	if p.w == nil {
		return
	}
	var remaining string
	if p.done > 0 {
		each := time.Since(p.start) / time.Duration(p.done)
		remaining = fmt.Sprintf(", about %v left", (each * time.Duration(left)).Round(time.Second))
	}
	p.line(fmt.Sprintf("%d of %d%s: %s, %d ranks %s, %s: %v",
		p.done+1, p.done+left, remaining, c.Collective, c.Ranks, c.Transport, figures.Size(c.Bytes), who))
	p.done++
}

func (p *progress) line(text string) {
	if p.w != nil {
		fmt.Fprintf(p.w, "\r\x1b[K%s", text)
	}
}
