package monitor

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/collgen/collgen/fast/health"
	"github.com/collgen/collgen/fast/internal/exec"
	"github.com/collgen/collgen/fast/internal/failure"
	"github.com/collgen/collgen/fast/internal/wire"
)

// question asks a rank what it does.
type question struct {
	round  uint32
	stacks bool
}

// The first bytes of messages of kind control.KindHealth.
const (
	asks byte = iota + 1
	asksStacks
	answers
)

// headBytes is the length of that byte and of the number of the inquiry, which follows. An answer goes on with the
// length of a health.Rank in JSON, that, and the stacks.
const headBytes = 1 + 4

func (q *question) encode() []byte {
	what := asks
	if q.stacks {
		what = asksStacks
	}
	return binary.LittleEndian.AppendUint32([]byte{what}, q.round)
}

func decodeQuestion(b []byte) (q question, ok bool) {
	if len(b) != headBytes || b[0] != asks && b[0] != asksStacks {
		return q, false
	}
	return question{binary.LittleEndian.Uint32(b[1:]), b[0] == asksStacks}, true
}

// answer returns the answer to q.
func (m *Monitor) answer(q *question) []byte {
	r := m.comm.Position()
	cut(&r)
	stacks := ""
	if q.stacks {
		stacks = Stacks()
	}
	return encodeAnswer(q.round, &r, stacks)
}

// cut cuts what is longer than an answer may be.
func cut(r *health.Rank) {
	r.Error = strings.ToValidUTF8(r.Error[:min(len(r.Error), health.MaxText)], "?")
	r.Running = r.Running[:min(len(r.Running), health.MaxCalls)]
	for i := range r.Running {
		cutCall(&r.Running[i])
	}
	if r.Last != nil {
		cutCall(r.Last)
	}
}

func cutCall(c *health.Call) {
	for _, name := range []*string{&c.Comm, &c.Op, &c.Label} {
		*name = strings.ToValidUTF8((*name)[:min(len(*name), maxName)], "?")
	}
	c.Waiting = c.Waiting[:min(len(c.Waiting), health.MaxWaiting)]
}

func encodeAnswer(round uint32, r *health.Rank, stacks string) []byte {
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	if err := e.Encode(r); err != nil {
		panic(err) // of strings and numbers
	}
	b := binary.LittleEndian.AppendUint32([]byte{answers}, round)
	b = binary.LittleEndian.AppendUint32(b, uint32(text.Len()))
	b = append(b, text.Bytes()...)
	return append(b, stacks[:min(len(stacks), max(0, wire.MaxNote-len(b)))]...)
}

// decodeAnswer returns what a rank of size has answered, and to which question. Nothing in it is about another rank but
// the numbers of those that it says it waits for.
func decodeAnswer(b []byte, from, size int) (round uint32, r health.Rank, ok bool) {
	if len(b) < headBytes+4 || b[0] != answers {
		return 0, r, false
	}
	round = binary.LittleEndian.Uint32(b[1:])
	n, rest := binary.LittleEndian.Uint32(b[headBytes:]), b[headBytes+4:]
	if int64(n) > int64(len(rest)) || len(rest)-int(n) > health.MaxStacks || json.Unmarshal(rest[:n], &r) != nil ||
		check(&r, size) != nil {
		return 0, r, false
	}
	r.Rank, r.Answered, r.Process, r.Stacks = from, true, "", legible(string(rest[n:]))
	return round, r, true
}

// states are those of a communicator whose rank answers.
var states = []string{failure.Healthy.String(), failure.Failed.String(), failure.Revoked.String(),
	failure.Aborted.String()}

var errAnswer = errors.New("no rank answers so")

// check refuses what no rank of size answers.
func check(r *health.Rank, size int) error {
	if !slices.Contains(states, r.State) || len(r.Error) > health.MaxText || len(r.Running) > health.MaxCalls ||
		!failure.Printable(r.Error) {
		return errAnswer
	}
	for i := range r.Running {
		if err := checkCall(&r.Running[i]); err != nil {
			return err
		}
	}
	if r.Last != nil {
		return checkCall(r.Last)
	}
	return nil
}

// maxName is how many bytes a name in an answer may have: a Bucket's label is made of two labels.
const maxName = 2*exec.MaxLabel + 64

// checkCall refuses what is no call. It may be one of another communicator, of any size.
func checkCall(c *health.Call) error {
	const most = 1 << 20 // ranks
	beyond := func(rank int) bool { return rank < 0 || rank >= most }
	switch {
	case c.Op == "" || len(c.Comm) > maxName || len(c.Op) > maxName || len(c.Label) > maxName:
	case !failure.Printable(c.Comm, c.Op, c.Label) || c.Begun < 0 || c.Still < 0:
	case c.Peer < -1 || c.Peer >= most || len(c.Waiting) > health.MaxWaiting || slices.ContainsFunc(c.Waiting, beyond):
	default:
		return nil
	}
	return errAnswer
}

// legible returns text without control characters other than those that lay it out.
func legible(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return '?'
		}
		return r
	}, strings.ToValidUTF8(text, "?"))
}

// dump is the stacks of this process. They are taken anew only after a while, because nothing else runs meanwhile.
var dump struct {
	mu   sync.Mutex
	at   time.Time
	text string
}

// dumpTime is how long stacks are given to all who ask.
const dumpTime = 100 * time.Millisecond

// Stacks returns the stacks of the goroutines of this process, at most health.MaxStacks bytes.
func Stacks() string {
	dump.mu.Lock()
	defer dump.mu.Unlock()
	if now := time.Now(); dump.text == "" || now.Sub(dump.at) >= dumpTime || now.Before(dump.at) {
		text := make([]byte, health.MaxStacks)
		dump.text = legible(string(text[:runtime.Stack(text, true)]))
		dump.text = dump.text[:min(len(dump.text), health.MaxStacks)]
		dump.at = now
	}
	return dump.text
}
