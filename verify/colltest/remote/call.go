package remote

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/collgen/collgen/verify/colltest"
)

// rank is one rank as a world talks to it: at any time, one goroutine does.
type rank struct {
	*world
	*link
	number int
}

// rank returns the rank of a number.
func (w *world) rank(number int) *rank { return &rank{w, w.links[number], number} }

// Call has a rank make a call, and reads the resulting memory.
func (w *world) Call(ctx context.Context, number int, c *colltest.Call) error {
	r := w.rank(number)
	m, err := r.lend(c.Memory)
	if err != nil {
		return err
	}
	defer m.close()
	return r.ask(ctx, append(r.line("call", c), m.word()...), mostAnswer(len(c.Memory)), m.take)
}

// Start has a rank start calls, of several as a batch.
func (w *world) Start(ctx context.Context, number int, calls ...*colltest.Call) (waits []colltest.Wait) {
	r := w.rank(number)
	var lines []byte
	if len(calls) > 1 {
		lines = fmt.Appendf(lines, "batch %d\n", len(calls))
	}
	var lent []*lent
	for _, c := range calls {
		m, err := r.lend(c.Memory)
		if err != nil {
			return failing(len(calls), err)
		}
		lent = append(lent, m)
		r.calls++
		lines = append(append(lines, r.line(fmt.Sprintf("start %d", r.calls), c)...), m.word()...)
	}
	for i, m := range lent {
		err := r.ask(ctx, lines, mostWord, word("started"))
		lines = nil
		waits = append(waits, r.waitFor(r.calls-len(calls)+1+i, m, err))
		if err != nil && !errors.Is(err, colltest.ErrCannot) {
			return append(waits, failing(len(calls)-i-1, err)...)
		}
	}
	return waits
}

// failing returns n waits that return an error.
func failing(n int, err error) (waits []colltest.Wait) {
	for range n {
		waits = append(waits, func(context.Context) error { return err })
	}
	return waits
}

// waitFor returns what waits for a call that was started, or returns err.
func (r *rank) waitFor(id int, m *lent, err error) colltest.Wait {
	return func(ctx context.Context) error {
		defer m.close()
		if err != nil {
			return err
		}
		return r.ask(ctx, fmt.Appendf(nil, "wait %d\n", id), mostAnswer(len(m.memory)), able(m.take))
	}
}

// Prepare has a rank prepare a call.
func (w *world) Prepare(ctx context.Context, number int, c *colltest.Call) (colltest.Prepared, error) {
	r := w.rank(number)
	m, err := r.lend(c.Memory)
	if err != nil {
		return nil, err
	}
	r.calls++
	p := &prepared{r, r.calls, m}
	err = r.ask(ctx, append(r.line(fmt.Sprintf("prepare %d", p.id), c), m.word()...), mostWord, word("prepared"))
	return p, err
}

// prepared is a call that a rank has prepared.
type prepared struct {
	*rank
	id int
	m  *lent
}

func (p *prepared) Start(ctx context.Context) colltest.Wait {
	err := p.m.refill()
	if err == nil {
		err = p.ask(ctx, append(fmt.Appendf(nil, "begin %d ", p.id), p.m.word()...), mostWord, able(word("started")))
	}
	return func(ctx context.Context) error {
		if err != nil {
			return err
		}
		return p.ask(ctx, fmt.Appendf(nil, "wait %d\n", p.id), mostAnswer(len(p.m.memory)), able(p.m.take))
	}
}

func (p *prepared) Close() error {
	defer p.m.close()
	return p.ask(context.Background(), fmt.Appendf(nil, "drop %d\n", p.id), mostWord, able(word("dropped")))
}

// Split has a rank make a communicator.
func (w *world) Split(ctx context.Context, number, comm, color, key int) error {
	text := fmt.Sprint(color)
	if color < 0 {
		text = "-"
	}
	return w.rank(number).ask(ctx, fmt.Appendf(nil, "split %d %s %d\n", comm, text, key), mostWord, able(word("split")))
}

// Free has a rank free a communicator.
func (w *world) Free(ctx context.Context, number, comm int) error {
	return w.rank(number).ask(ctx, fmt.Appendf(nil, "free %d\n", comm), mostWord, able(word("freed")))
}

// mostWord is the largest length of an answer without memory.
const mostWord = 4096

// word returns the function that takes this answer.
func word(want string) func(line string) error {
	return func(line string) error { return decodeWord(line, want) }
}

// able returns take for answers that cannot leave out a call: where it was begun already, or is none.
func able(take func(line string) error) func(line string) error {
	return func(line string) error {
		err := take(line)
		if errors.Is(err, colltest.ErrCannot) {
			return fmt.Errorf("it wrote %s, which is no answer here", brief(line))
		}
		return err
	}
}

// line returns the line of a call up to its memory, after those that say on which communicator it is and which tag it
// has, if these are others than those of the call before.
func (r *rank) line(begin string, c *colltest.Call) (b []byte) {
	if c.Comm != r.comm {
		b = fmt.Appendf(b, "comm %d\n", c.Comm)
		r.comm = c.Comm
	}
	if c.Tag != r.tag {
		b = fmt.Appendf(b, "tag %d\n", c.Tag)
		r.tag = c.Tag
	}
	return appendCall(append(append(b, begin...), ' '), c)
}

// ask writes lines, and gives the answer to take.
func (r *rank) ask(ctx context.Context, lines []byte, most int, take func(line string) error) error {
	err := r.during(ctx, func() error {
		if _, err := r.Write(lines); err != nil {
			return err
		}
		line, err := r.link.line(most)
		if err != nil {
			return err
		}
		return take(line)
	})
	if err != nil && !errors.Is(err, colltest.ErrCannot) {
		r.broken.Store(true)
	}
	if errors.Is(err, errGone) {
		return r.gone(r.number)
	}
	return err
}

// lent is memory that a rank is given: as digits, or as a file that it maps.
type lent struct {
	memory []byte
	file   *shared // nil: digits
}

// leastShared is the number of bytes from which on memory is a file, if ranks take one.
const leastShared = 1 << 16

// lend lends memory to a rank.
func (r *rank) lend(memory []byte) (*lent, error) {
	m := &lent{memory: memory}
	if !r.can.Huge || len(memory) < leastShared || !canShare {
		return m, nil
	}
	var err error
	m.file, err = share(memory)
	return m, err
}

// word returns the last word of a line, with the line's end.
func (m *lent) word() []byte {
	if m.file != nil {
		return fmt.Appendf(nil, "@%s\n", m.file.path())
	}
	return append(hex.AppendEncode(nil, m.memory), '\n')
}

// take takes the memory back from the answer to a call.
func (m *lent) take(line string) error {
	if m.file == nil {
		return decodeAnswer(line, m.memory)
	}
	if err := decodeWord(line, "done @"); err != nil {
		return err
	}
	return m.file.read(m.memory)
}

// refill gives the rank what memory has become.
func (m *lent) refill() error {
	if m.file == nil {
		return nil
	}
	return m.file.write(m.memory)
}

func (m *lent) close() {
	if m.file != nil {
		m.file.close()
	}
}
