package main

import (
	"fmt"
	"io"
	"strings"
	"unicode"
)

// This file has what several reports of collgen conform use.

// heading is what a file says of the command that has written it.
type heading struct{ command, arguments []string }

// String returns the command line.
func (h *heading) String() string {
	words := []string{"collgen", "conform"}
	for _, word := range h.arguments {
		words = append(words, quoted(word))
	}
	words = append(words, "--")
	for _, word := range h.command {
		words = append(words, quoted(word))
	}
	return strings.Join(words, " ")
}

// shown returns a character as files have it: one that cannot be seen is replaced.
func shown(r rune) rune {
	if !unicode.IsGraphic(r) {
		return unicode.ReplacementChar
	}
	return r
}

// shownOrSpace is shown, but leaves line breaks and tabs.
func shownOrSpace(r rune) rune {
	if r == '\n' || r == '\t' {
		return r
	}
	return shown(r)
}

// printer writes to out what can be shown, and keeps the first error.
type printer struct {
	out io.Writer
	err error
}

func (p *printer) printf(format string, args ...any) {
	if p.err == nil {
		_, p.err = io.WriteString(p.out, strings.Map(shownOrSpace, fmt.Sprintf(format, args...)))
	}
}
