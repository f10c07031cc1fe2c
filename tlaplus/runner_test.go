package main

import (
	"context"
	"io"
	"strings"
	"testing"
	"time"
)

// TestLimit: a checker that does not end is ended, and the error says of which check.
func TestLimit(t *testing.T) {
	hangs := checker{"hangs", func(ctx context.Context, _ *task) (result, error) {
		<-ctx.Done()
		return result{}, nil
	}}
	r := &runner{dir: ".", checkers: []checker{hangs}, jobs: 1, limit: time.Millisecond, progress: io.Discard}
	_, err := r.run(t.Context(), []*check{&manifest[0]})
	if want := manifest[0].file() + ", hangs: it has not ended after 1ms"; err == nil || !strings.Contains(err.Error(),
		want) {
		t.Errorf("%v, want %s", err, want)
	}
}
