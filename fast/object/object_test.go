package object

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/collgen/collgen/fast"
	"github.com/collgen/collgen/fast/internal/fasttest"
)

// record is a value of the tests.
type record struct {
	From, To int
	Text     string
	Parts    []float64
	Names    map[string]*record
}

// between returns what rank from has for rank to. It is nil, empty, short or very long.
func between(from, to int) *record {
	r := &record{From: from, To: to, Text: strings.Repeat("x", to)}
	switch (from + 2*to) % 4 {
	case 0:
		return nil
	case 1:
		return &record{}
	case 2:
		r.Text += strings.Repeat("long", 40_000)
		r.Parts = []float64{0.5, float64(to)}
	case 3:
		r.Names = map[string]*record{"a": {From: 7}, "b": {}}
	}
	return r
}

// toAll returns what rank from has for every rank.
func toAll(from, size int) (rs []*record) {
	for to := range size {
		rs = append(rs, between(from, to))
	}
	return rs
}

// atAll returns what every rank has for rank to.
func atAll(to, size int) (rs []*record) {
	for from := range size {
		rs = append(rs, between(from, to))
	}
	return rs
}

// library is the calls that are tested.
type library struct {
	broadcast func(ctx context.Context, c *fast.Comm, v **record, root int, opts ...Option) error
	gather    func(ctx context.Context, c *fast.Comm, v *record, root int, opts ...Option) ([]*record, error)
	allGather func(ctx context.Context, c *fast.Comm, v *record, opts ...Option) ([]*record, error)
	scatter   func(ctx context.Context, c *fast.Comm, vs []*record, root int, opts ...Option) (*record, error)
	allToAll  func(ctx context.Context, c *fast.Comm, vs []*record, opts ...Option) ([]*record, error)
}

// made is this package.
var made = library{Broadcast[*record], Gather[*record], AllGather[*record], Scatter[*record], AllToAll[*record]}

// errMeaning is in the error of a call that has succeeded with a wrong result.
var errMeaning = errors.New("a wrong result")

// expect compares a result, unless the call has failed.
func expect(err error, what string, c *fast.Comm, got, want any) error {
	if err == nil && !reflect.DeepEqual(got, want) {
		err = fmt.Errorf("%w of %s on %v: %.200v, want %.200v", errMeaning, what, c, got, want)
	}
	return err
}

// check makes all calls with that root, and compares their results.
func (l *library) check(ctx context.Context, c *fast.Comm, root int, opts ...Option) error {
	rank, size := c.Rank(), c.Size()
	v := &record{From: -1}
	if rank == root {
		v = between(root, size)
	}
	err := l.broadcast(ctx, c, &v, root, opts...)
	errs := []error{expect(err, "Broadcast", c, v, between(root, size))}
	all, err := l.gather(ctx, c, between(rank, root), root, opts...)
	want := atAll(root, size)
	if rank != root {
		want = nil
	}
	errs = append(errs, expect(err, "Gather", c, all, want))
	all, err = l.allGather(ctx, c, between(rank, root), opts...)
	errs = append(errs, expect(err, "AllGather", c, all, atAll(root, size)))
	var vs []*record
	if rank == root {
		vs = toAll(root, size)
	}
	v, err = l.scatter(ctx, c, vs, root, opts...)
	errs = append(errs, expect(err, "Scatter", c, v, between(root, rank)))
	all, err = l.allToAll(ctx, c, toAll(rank, size), opts...)
	return errors.Join(append(errs, expect(err, "AllToAll", c, all, atAll(rank, size)))...)
}

// TestMeaning makes all calls, over all transports, with 1 to 9 ranks and every root.
func TestMeaning(t *testing.T) {
	for _, w := range fasttest.Worlds(fast.Init) {
		t.Run(w.Name, func(t *testing.T) {
			for size := 1; size <= 9; size++ {
				all := w.Comms(t, size)
				fasttest.CheckErrors(t, fasttest.OnAll(all, func(c *fast.Comm) error {
					for root := range size {
						if err := made.check(t.Context(), c, root); err != nil {
							return err
						}
					}
					return made.check(t.Context(), c, size-1, WithCodec(marshalLoose, unmarshalLoose))
				}))
				fasttest.CloseAll(t, all)
			}
		})
	}
}

// marshalLoose is JSON, except that it has no bytes for nil.
func marshalLoose(v any) ([]byte, error) {
	if v.(*record) == nil {
		return nil, nil
	}
	return json.Marshal(v)
}

func unmarshalLoose(data []byte, v any) error {
	if len(data) == 0 {
		return nil
	}
	return json.Unmarshal(data, v)
}

// TestCodecKeeps: a codec may keep the bytes that it gets, and append to them. Other values stay as they are.
func TestCodecKeeps(t *testing.T) {
	keeps := WithCodec(func(v any) ([]byte, error) { return v.([]byte), nil }, func(data []byte, v any) error {
		*v.(*[]byte) = append(data, '!')
		return nil
	})
	if err := fast.Run(t.Context(), 3, func(ctx context.Context, c *fast.Comm) error {
		all, err := AllGather(ctx, c, []byte{byte('a' + c.Rank())}, keeps)
		return expect(err, "AllGather", c, all, [][]byte{[]byte("a!"), []byte("b!"), []byte("c!")})
	}); err != nil {
		t.Error(err)
	}
}

// TestTypes: values of types that gob alone refuses, or takes only if they are not zero.
func TestTypes(t *testing.T) {
	for _, want := range []any{nil, "", "text", 0, 3.5, true, []byte("b")} {
		if err := fast.Run(t.Context(), 3, func(ctx context.Context, c *fast.Comm) error {
			all, err := AllGather(ctx, c, want)
			return expect(err, "AllGather", c, all, []any{want, want, want})
		}); err != nil {
			t.Error(err)
		}
	}
	if err := fast.Run(t.Context(), 3, func(ctx context.Context, c *fast.Comm) error {
		var zero *int
		all, err := AllGather(ctx, c, zero)
		if err := expect(err, "AllGather", c, all, []*int{nil, nil, nil}); err != nil {
			return err
		}
		var failure error
		if c.Rank() == 1 {
			failure = errors.New("mine")
		}
		texts, err := AllGather(ctx, c, fmt.Sprint(failure))
		return expect(err, "AllGather", c, texts, []string{"<nil>", "mine", "<nil>"})
	}); err != nil {
		t.Error(err)
	}
}

// TestCopies: what ranks get shares no memory with what another rank has.
func TestCopies(t *testing.T) {
	if err := fast.Run(t.Context(), 3, func(ctx context.Context, c *fast.Comm) error {
		mine := []int{c.Rank()}
		all, err := AllGather(ctx, c, mine)
		if err != nil {
			return err
		}
		for _, x := range all {
			x[0] += 10 // the race detector sees shared memory
		}
		return expect(fast.Barrier(ctx, c), "AllGather", c, mine, []int{c.Rank()})
	}); err != nil {
		t.Error(err)
	}
}

// planted are mistakes in calls.
var planted = map[string]func(l *library){
	"Broadcast has the next root": func(l *library) {
		l.broadcast = func(ctx context.Context, c *fast.Comm, v **record, root int, opts ...Option) error {
			return Broadcast(ctx, c, v, (root+1)%c.Size(), opts...)
		}
	},
	"Broadcast keeps what the root has left out": func(l *library) {
		l.broadcast = func(ctx context.Context, c *fast.Comm, v **record, root int, opts ...Option) error {
			old := *v
			err := Broadcast(ctx, c, v, root, opts...)
			if *v == nil {
				*v = old
			}
			return err
		}
	},
	"Gather returns values on other ranks": func(l *library) {
		l.gather = func(ctx context.Context, c *fast.Comm, v *record, _ int, opts ...Option) ([]*record, error) {
			return AllGather(ctx, c, v, opts...)
		}
	},
	"Gather has another order": func(l *library) {
		l.gather = func(ctx context.Context, c *fast.Comm, v *record, root int, opts ...Option) ([]*record, error) {
			all, err := Gather(ctx, c, v, root, opts...)
			return turned(all), err
		}
	},
	"AllGather has another order": func(l *library) {
		l.allGather = func(ctx context.Context, c *fast.Comm, v *record, opts ...Option) ([]*record, error) {
			all, err := AllGather(ctx, c, v, opts...)
			return turned(all), err
		}
	},
	"Scatter has another order": func(l *library) {
		l.scatter = func(ctx context.Context, c *fast.Comm, vs []*record, root int, opts ...Option) (*record, error) {
			return Scatter(ctx, c, turned(vs), root, opts...)
		}
	},
	"AllToAll returns what was sent": func(l *library) {
		l.allToAll = func(ctx context.Context, c *fast.Comm, vs []*record, opts ...Option) ([]*record, error) {
			_, err := AllToAll(ctx, c, vs, opts...)
			return vs, err
		}
	},
}

// turned returns values in another order.
func turned(vs []*record) []*record {
	if len(vs) < 2 {
		return vs
	}
	return append(vs[1:len(vs):len(vs)], vs[0])
}

// TestPlanted: the comparison of results sees each mistake.
func TestPlanted(t *testing.T) {
	for name, plant := range planted {
		wrong := made
		plant(&wrong)
		if err := fast.Run(t.Context(), 3, func(ctx context.Context, c *fast.Comm) error {
			var err error
			for root := range c.Size() {
				err = errors.Join(err, wrong.check(ctx, c, root))
			}
			return err
		}); !errors.Is(err, errMeaning) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
