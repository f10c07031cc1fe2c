package store

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestFrame(t *testing.T) {
	for _, f := range []frame{
		{1, hello, "", nil},
		{1<<32 - 1, set, strings.Repeat("k", MaxKey), bytes.Repeat([]byte{7}, MaxValue)},
		{7, get, "key", nil},
	} {
		b := f.encode()
		got, err := readFrame(bytes.NewReader(b), maxFrame)
		if d := cmp.Diff(f.encode(), got.encode()); err != nil || d != "" {
			t.Error(err, d)
		}
		for cut := range min(len(b), 300) {
			_, err := readFrame(bytes.NewReader(b[:cut]), maxFrame)
			if !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Errorf("cut after %d of %d bytes: %v", cut, len(b), err)
			}
		}
		if _, err := readFrame(bytes.NewReader(b), len(b)-5); !errors.Is(err, errFrame) {
			t.Errorf("longer than the limit: %v", err)
		}
	}
}

func FuzzFrame(f *testing.F) {
	for _, seed := range []frame{{1, hello, "job", []byte{1}}, {2, set, "key", []byte("value")}, {3, bye, "", nil}} {
		f.Add(seed.encode())
	}
	f.Add([]byte{6, 0, 0, 0, 0, 0, 0, 0, 2, 200})                // a key that is not there
	f.Add([]byte{255, 255, 255, 255, 0, 0, 0, 0, 2, 0})          // a length that nobody may claim
	f.Add([]byte{6, 0, 0, 0, 0, 0, 0, 0, byte(kinds), 0})        // no kind
	f.Add(append([]byte{8, 0, 0, 0, 0, 0, 0, 0, 2, 201}, 1, 23)) // a key that is too long
	f.Fuzz(func(t *testing.T, b []byte) {
		x, err := readFrame(bytes.NewReader(b), maxFrame)
		if err != nil {
			return
		}
		if len(x.key) > MaxKey || len(x.value) > MaxValue || !bytes.HasPrefix(b, x.encode()) {
			t.Errorf("%d and %d bytes, from %q", len(x.key), len(x.value), b)
		}
	})
}
