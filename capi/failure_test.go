package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"regexp"
	"slices"
	"strconv"
	"syscall"
	"testing"

	"github.com/collgen/collgen/fast"
)

// TestKinds: every kind has the number that it has in collgen.h.
func TestKinds(t *testing.T) {
	want := map[string]int{"OK": kindOK, "INVALID_ARGUMENT": kindInvalidArgument, "CONCURRENT_USE": kindConcurrentUse,
		"MISMATCH": kindMismatch, "DEADLOCK": kindDeadlock, "TIMEOUT": kindTimeout, "DIED": kindDied,
		"FROZEN": kindFrozen, "EXHAUSTED": kindExhausted, "REVOKED": kindRevoked, "FENCED": kindFenced,
		"CLOSED": kindClosed, "ABORTED": kindAborted, "FORKED": kindForked, "NO_QUORUM": kindNoQuorum,
		"TICKET": kindTicket, "OTHER": kindOther, "TRUNCATED": kindTruncated, "CANCELED": kindCanceled,
		"NOT_OVER": kindNotOver}
	header, err := os.ReadFile("collgen.h")
	if err != nil {
		t.Fatal(err)
	}
	list := regexp.MustCompile(`(?s)The kinds of errors.*?};`).Find(header)
	for _, match := range regexp.MustCompile(`COLLGEN_(\w+) = (-?\d+)`).FindAllSubmatch(list, -1) {
		is, ok := want[string(match[1])]
		if number, _ := strconv.Atoi(string(match[2])); !ok || is != number {
			t.Errorf("%s is %d there", match[1], number)
		}
		delete(want, string(match[1]))
	}
	if len(want) > 0 {
		t.Errorf("not there: %v", want)
	}
}

// TestKindOf has errors of all kinds, as calls return them.
func TestKindOf(t *testing.T) {
	died := &fast.PeerError{Rank: 2, Err: fast.ErrDied}
	late := &fast.TimeoutError{Waiting: []int{1, 3}, Err: context.DeadlineExceeded}
	mismatch := &fast.MismatchError{Rank: 1, Field: "count"}
	call := func(err error) error { return &fast.CallError{Op: "AllReduce", Seq: 1, Err: err} }
	for _, test := range []struct {
		err   error
		kind  int
		ranks []int
		field string
	}{
		{nil, kindOK, nil, ""},
		{refuse("%d", 1), kindInvalidArgument, nil, ""},
		{call(died), kindDied, []int{2}, ""},
		{died, kindDied, []int{2}, ""},
		{fmt.Errorf("AllReduce: %w: %w", fast.ErrAborted, call(died)), kindAborted, []int{2}, ""},
		{fmt.Errorf("AllReduce: %w", &fast.PeerError{Rank: 0, Err: fast.ErrAborted}), kindAborted, []int{0}, ""},
		{call(&fast.PeerError{Rank: 0, Err: fast.ErrAborted}), kindAborted, []int{0}, ""},
		{call(&fast.PeerError{Rank: 0, Err: fast.ErrClosed}), kindClosed, []int{0}, ""},
		{call(&fast.PeerError{Rank: 4, Err: fmt.Errorf("%w: %w", fast.ErrAborted, mismatch)}), kindMismatch, []int{1, 4},
			"count"},
		{fmt.Errorf("AllReduce: %w", fast.ErrClosed), kindClosed, nil, ""},
		{call(mismatch), kindMismatch, []int{1}, "count"},
		{call(&fast.DeadlockError{Ranks: []int{0, 1}}), kindDeadlock, []int{0, 1}, ""},
		{call(late), kindTimeout, []int{1, 3}, ""},
		{call(&fast.PeerError{Rank: 2, Err: late}), kindTimeout, []int{1, 3}, ""},
		{call(&fast.PeerError{Rank: 2, Err: &fast.TimeoutError{Waiting: []int{0}, Err: context.Canceled}}), kindOther,
			[]int{2}, ""},
		{call(&fast.PeerError{Rank: 2, Err: &fast.TimeoutError{Waiting: []int{0}, Err: context.DeadlineExceeded}}),
			kindTimeout, []int{2}, ""},
		{fmt.Errorf("Init: %w", late), kindTimeout, []int{1, 3}, ""},
		{call(&fast.PeerError{Rank: 1, Err: fast.ErrFrozen}), kindFrozen, []int{1}, ""},
		{call(fast.ErrExhausted), kindExhausted, nil, ""},
		{fmt.Errorf("Alloc: %w: only 1 KiB are left", syscall.ENOMEM), kindExhausted, nil, ""},
		{call(fast.ErrRevoked), kindRevoked, nil, ""},
		{call(fast.ErrFenced), kindFenced, nil, ""},
		{fast.ErrConcurrentUse, kindConcurrentUse, nil, ""},
		{fast.ErrForked, kindForked, nil, ""},
		{fast.ErrNoQuorum, kindNoQuorum, nil, ""},
		{fast.ErrTicket, kindTicket, nil, ""},
		{fast.ErrTicketUsed, kindTicket, nil, ""},
		{errors.New("anything"), kindOther, nil, ""},
	} {
		if kind, ranks, field := kindOf(test.err), ranksOf(test.err), fieldOf(test.err); kind != test.kind ||
			!slices.Equal(ranks, test.ranks) || field != test.field {
			t.Errorf("%v: %d, %v, %q, want %d, %v, %q", test.err, kind, ranks, field, test.kind, test.ranks, test.field)
		}
	}
}

// written keeps what is logged.
type written []string

func (w *written) write(level slog.Level, text string) { *w = append(*w, level.String()+" "+text) }

// TestLog: a record is a line, with the attributes of its logger.
func TestLog(t *testing.T) {
	var w written
	log := slog.New(newHandler(&w)).With("rank", 1)
	log.Warn("a call is slow", "waits for", []int{2})
	log.WithGroup("g").Error("two\nlines", "x", 1)
	log.Debug("nobody wants it")
	want := []string{`WARN msg="a call is slow" rank=1 "waits for"=[2]`, `ERROR msg="two\nlines" rank=1 g.x=1`}
	if !slices.Equal(w, want) {
		t.Errorf("%q", w)
	}
}
