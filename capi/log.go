package main

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"sync"
)

// writer takes a line that is logged.
type writer interface {
	write(level slog.Level, text string)
}

// handler has each record written as a line of text, without time and level.
type handler struct {
	slog.Handler
	out *line
}

// line is where a handler and those that are made of it print.
type line struct {
	mu  sync.Mutex
	buf bytes.Buffer
	to  writer
}

// newHandler returns a handler that writes to w.
func newHandler(w writer) slog.Handler {
	out := &line{to: w}
	text := slog.NewTextHandler(&out.buf, &slog.HandlerOptions{ReplaceAttr: func(groups []string, a slog.Attr) slog.Attr {
		if len(groups) == 0 && (a.Key == slog.TimeKey || a.Key == slog.LevelKey) {
			return slog.Attr{}
		}
		return a
	}})
	return &handler{text, out}
}

// Handle writes a record.
func (h *handler) Handle(ctx context.Context, r slog.Record) error {
	h.out.mu.Lock()
	h.out.buf.Reset()
	err := h.Handler.Handle(ctx, r)
	text := strings.TrimSpace(h.out.buf.String())
	h.out.mu.Unlock()
	if err == nil {
		h.out.to.write(r.Level, text)
	}
	return err
}

// WithAttrs returns a handler whose records have more attributes.
func (h *handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &handler{h.Handler.WithAttrs(attrs), h.out}
}

// WithGroup returns a handler whose attributes are in a group.
func (h *handler) WithGroup(name string) slog.Handler {
	return &handler{h.Handler.WithGroup(name), h.out}
}

// cut returns the name and the value of a variable such as "COLL_RANK=0".
func cut(variable string) (name, value string) {
	name, value, _ = strings.Cut(variable, "=")
	return name, value
}
