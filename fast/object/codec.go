package object

import (
	"bytes"
	"encoding/gob"
	"fmt"

	"github.com/collgen/collgen/fast"
)

// boxed is what gob encodes: alone, it takes neither a nil pointer nor an interface.
type boxed[T any] struct{ V T }

// marshal returns v in the codec's form.
func marshal[T any](o *config, v T) ([]byte, error) {
	if o.own {
		return o.marshal(v)
	}
	var b bytes.Buffer
	err := gob.NewEncoder(&b).Encode(boxed[T]{v})
	return b.Bytes(), err
}

// unmarshal returns the value that data is the codec's form of.
func unmarshal[T any](o *config, data []byte) (v T, err error) {
	if o.own {
		err = o.unmarshal(data, &v)
		return v, err
	}
	r, b := bytes.NewReader(data), boxed[T]{}
	if err := gob.NewDecoder(r).Decode(&b); err != nil {
		return v, err
	}
	if r.Len() > 0 {
		return v, fmt.Errorf("%d bytes follow the value", r.Len())
	}
	return b.V, nil
}

// encoded are values, one after the other.
type encoded struct {
	data    []byte
	lengths []int64 // of each value
	err     error   // why one could not be encoded; then there are no data, and all lengths are failed
}

// failed is the length of values that could not be encoded.
const failed = -1

// encode encodes vs.
func encode[T any](o *config, vs ...T) encoded {
	e := encoded{lengths: make([]int64, len(vs))}
	for i, v := range vs {
		b, err := marshal(o, v)
		if err != nil {
			for i := range e.lengths {
				e.lengths[i] = failed
			}
			return encoded{lengths: e.lengths, err: err}
		}
		e.data, e.lengths[i] = append(e.data, b...), int64(len(b))
	}
	return e
}

// blocks returns where the values lie.
func (e *encoded) blocks() fast.Blocks {
	b := fast.Blocks{Counts: make([]int, len(e.lengths))}
	for i, n := range e.lengths {
		b.Counts[i] = int(n)
	}
	return b
}

// decode returns the values of so many bytes each that lie one after the other in data. On failure it also returns
// which one cannot be decoded.
func decode[T any](o *config, data []byte, counts []int) (vs []T, at int, err error) {
	vs = make([]T, len(counts))
	for i, n := range counts {
		if vs[i], err = unmarshal[T](o, data[:n:n]); err != nil {
			return nil, i, err
		}
		data = data[n:]
	}
	return vs, 0, nil
}
