package trace

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

const (
	aHeader = `{"format":"collgen trace 1","rank":1,"size":2,"job":"j","pid":7,"reason":"on demand"}`
	anEntry = `{"comm":"world","id":"9223372036854775809","rank":1,"size":2,"seq":3,"primitive":"Recv","algorithm":"direct",` +
		`"type":"int8","count":4,"root":0,"peer":1,"depth":1,"local":1,"start":5,"state":"running","waiting":[0],"blames":[1]}`
)

// TestRead refuses what no recorder writes.
func TestRead(t *testing.T) {
	good := aHeader + "\n" + anEntry + "\n"
	trace, err := Read(strings.NewReader(good))
	if err != nil || trace.Rank != 1 || len(trace.Entries) != 1 || trace.Entries[0].ID != 1<<63+1 {
		t.Errorf("%v: %+v", err, trace)
	}
	for _, replace := range [][2]string{
		{"trace 1", "trace 2"}, {`"rank":1,"size":2,"job"`, `"rank":-1,"size":2,"job"`}, {`"size":2,"job"`, `"size":0,"job"`},
		{`"size":2,"job"`, `"size":2000000,"job"`}, {`"on demand"`, `"\u001b[2J"`}, {good, ""}, {"{", "["},
		{aHeader, aHeader + strings.Repeat(" ", maxLine)},
		{anEntry, "x"}, {anEntry, strings.Repeat(anEntry+"\n", MaxEntries+1)}, {`"seq"`, `"seq":"x","seq"`},
		{`"rank":1,"size":2,"seq"`, `"rank":2,"size":2,"seq"`}, {`"root":0`, `"root":2`}, {`"peer":1`, `"peer":-2`},
		{`[0]`, `[2]`}, {`[1]`, `[2]`},
		{`"count":4`, `"count":-4`}, {`"local":1`, `"local":-1`}, {`"start":5`, `"start":-5`},
		{`"start":5`, `"start":5,"bytes":-1`}, {`"start":5`, `"start":5,"end":4`}, {`"running"`, `"over"`},
		{`"Recv"`, `"\n"`},
	} {
		bad := strings.Replace(good, replace[0], replace[1], 1)
		if got, err := Read(strings.NewReader(bad)); err == nil {
			t.Errorf("%.300q is accepted: %+v", bad, got)
		}
	}
}

// FuzzRead: what is read can be written, and is the same when it is read again; an empty list is not written.
func FuzzRead(f *testing.F) {
	f.Add([]byte(aHeader + "\n" + anEntry + "\n"))
	f.Add([]byte(aHeader))
	f.Add([]byte(`{"format":"collgen trace 1","size":1,"origin":"2026-01-02T03:04:05.6Z","lost":18446744073709551615}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		trace, err := Read(bytes.NewReader(data))
		if err != nil {
			return
		}
		var buf bytes.Buffer
		if err := trace.Write(&buf); err != nil {
			t.Fatal(err)
		}
		again, err := Read(&buf)
		if err != nil {
			t.Fatal(err)
		}
		again.Origin, trace.Origin = again.Origin.UTC(), trace.Origin.UTC()
		if d := cmp.Diff(trace, again, cmpopts.EquateEmpty()); d != "" {
			t.Error(d)
		}
	})
}
