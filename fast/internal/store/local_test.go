package store

import (
	"bytes"
	"crypto/sha256"
	"slices"
	"strings"
	"testing"
)

// TestHello: rank 0 takes ranks of its own job alone, and says why not.
func TestHello(t *testing.T) {
	lead := Job{Name: "train", Epoch: 3, Rank: 0, Size: 4}
	said := func(change func(*Job)) []byte {
		j := Job{Name: "train", Epoch: 3, Rank: 2, Size: 4}
		change(&j)
		return j.encode()
	}
	if err := lead.check(said(func(*Job) {})); err != nil {
		t.Error(err)
	}
	for want, b := range map[string][]byte{
		"another job":                          said(func(j *Job) { j.Name = "other" }),
		"epoch 3 of the job, not 2":            said(func(j *Job) { j.Epoch = 2 }),
		"has 4 ranks, not 5":                   said(func(j *Job) { j.Size = 5 }),
		"rank 0 of 4 cannot connect to rank 0": said(func(j *Job) { j.Rank = 0 }),
		"rank 4 of 4 cannot connect to rank 0": said(func(j *Job) { j.Rank = 4 }),
		"4294967295 of 4":                      said(func(j *Job) { j.Rank = -1 }),
		"not a rank of collgen":                []byte("GET / HTTP/1.1\r\n"),
		"not a rank of collgen, or one of a":   append([]byte("collgen\x02"), said(func(*Job) {})[len(localMagic):]...),
	} {
		if err := lead.check(b); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

func FuzzHello(f *testing.F) {
	lead := Job{Name: "train", Epoch: 3, Rank: 0, Size: 4}
	f.Add((&Job{Name: "train", Epoch: 3, Rank: 1, Size: 4}).encode())
	f.Add((&Job{Name: "train", Epoch: 3, Rank: 9, Size: 4}).encode())
	f.Add(bytes.Repeat([]byte{0xff}, localHello))
	f.Fuzz(func(t *testing.T, b []byte) {
		if lead.check(b) != nil {
			return
		}
		fits := func(rank int) bool {
			return bytes.Equal(b, (&Job{Name: "train", Epoch: 3, Rank: rank, Size: 4}).encode())
		}
		if !slices.ContainsFunc([]int{1, 2, 3}, fits) || len(b) < sha256.Size {
			t.Errorf("%x is taken for a rank of the job", b)
		}
	})
}
