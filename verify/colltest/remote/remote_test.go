package remote

import (
	"bufio"
	"context"
	"io"
	"net"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/collgen/collgen/spec"
	"github.com/collgen/collgen/verify/colltest"
)

// program returns the command that starts the test's program; rank is {rank}, or - for a launcher.
func program(t *testing.T, fault, rank string) []string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv(rankVariable, "1")
	t.Setenv("TMPDIR", t.TempDir())
	return []string{self, fault, rank, "{n}"}
}

// TestConforms: what is right passes, by both ways of starting ranks, and nothing is left behind.
func TestConforms(t *testing.T) {
	for name, x := range map[string]struct {
		rank  string
		sizes []int
	}{"one process": {"-", []int{1, 2, 3}}, "a process per rank": {"{rank}", []int{1}}} {
		t.Run(name, func(t *testing.T) {
			job, err := NewJob(t.Context(), program(t, "none", x.rank), nil, x.sizes)
			if err != nil {
				t.Fatal(err)
			}
			s := colltest.NewSuite(job)
			for _, f := range s.Check(t.Context(), s.Capabilities().Primitives[0]) {
				t.Error(f)
			}
			if s.Tested["Broadcast"].Cases < 40 || s.Capabilities().Name != "test" {
				t.Errorf("tested %+v of %s", s.Tested, s.Capabilities().Name)
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
			if left, _ := filepath.Glob(filepath.Join(os.Getenv("TMPDIR"), "*")); len(left) > 0 {
				t.Errorf("left behind: %q", left)
			}
		})
	}
}

// TestEnvironment: ranks have the environment of the job, or that of this process, by both ways of starting them.
func TestEnvironment(t *testing.T) {
	t.Setenv(nameVariable, " of mine")
	for _, rank := range []string{"-", "{rank}"} {
		command := program(t, "none", rank)
		unset := slices.DeleteFunc(os.Environ(), func(s string) bool { return strings.HasPrefix(s, nameVariable+"=") })
		for _, x := range []struct {
			env  []string
			want string
		}{{nil, "test of mine"}, {append(os.Environ(), nameVariable+"= of yours"), "test of yours"}, {unset, "test"}} {
			job, err := NewJob(t.Context(), command, x.env, []int{1})
			if err != nil || job.Can.Name != x.want {
				t.Errorf("%s: %v, want %q; %v", rank, job, x.want, err)
			}
		}
	}
}

// TestCannot: calls that ranks cannot make are counted, and are no failure unless some of the ranks make them.
func TestCannot(t *testing.T) {
	for _, fault := range []string{"cannot", "one cannot"} {
		job, err := NewJob(t.Context(), program(t, fault, "-"), nil, []int{2})
		if err != nil {
			t.Fatal(err)
		}
		s := colltest.NewSuite(job)
		s.Failures = 1
		found := s.Check(t.Context(), s.Capabilities().Primitives[0])
		switch {
		case s.Tested["Broadcast"].Cannot == 0 || !strings.Contains(strings.Join(s.Untested(), "; "), "cannot make"):
			t.Errorf("tested %+v, and not %q", s.Tested, s.Untested())
		case fault == "cannot" && len(found) > 0:
			t.Error(found[0])
		case fault == "one cannot" && (len(found) == 0 || !strings.Contains(found[0].String(), "other ranks say")):
			t.Errorf("found %v", found)
		}
		_ = s.Close()
	}
}

// TestWrongHellos: who does not introduce itself as it should is not taken for a rank.
func TestWrongHellos(t *testing.T) {
	says := map[string]string{
		"says nothing": "deadline", "other version": "first line", "no version": "first line", "endless line": "more than",
		"endless hello": "more than", "wrong size": "one of 77", "no rank": "rank R of N", "no types": "types",
		"no primitive": "primitive", "unknown type": "int9", "unknown primitive": "Shuffle", "unknown line": "colour",
		"two ranks alike": "two ranks", "most below least": "at most 2 elements",
		"exits": "exit status 3", "does not connect": "0 of 2",
	}
	for fault, want := range says {
		t.Run(fault, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			_, err := NewJob(ctx, program(t, fault, "-"), nil, []int{2})
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%v, want %q in it", err, want)
			}
		})
	}
	if _, err := NewJob(t.Context(), []string{"/does/not/exist"}, nil, []int{2}); err == nil {
		t.Error("a command that does not exist has started")
	}
}

// TestHello: all that a rank says of itself is read.
func TestHello(t *testing.T) {
	h, err := heard(version + "\nrank 2 of 4\nname a test\ntypes int8 float64\nops sum max\nvalues nan " +
		"minus-zero overflow\n" +
		"least 3\nmost 100\nprimitive AllReduce apart\nprimitive AllGather in-place uneven\nready\n")
	if err != nil {
		t.Fatal(err)
	}
	want := hello{rank: 2, size: 4, can: colltest.Capabilities{Name: "a test",
		Types: []spec.Type{spec.TypeInt8, spec.TypeFloat64}, Ops: []spec.Op{spec.OpSum, spec.OpMax}, LeastCount: 3,
		MostCount: 100, NaN: true, MinusZero: true, Overflow: true,
		Primitives: []colltest.Support{{Primitive: spec.AllReduce, Apart: true},
			{Primitive: spec.AllGather, InPlace: true, Uneven: true}}}}
	if !reflect.DeepEqual(*h, want) {
		t.Errorf("read as %+v, want %+v", *h, want)
	}
}

// heard reads a hello from a text.
func heard(text string) (*hello, error) {
	lines := bufio.NewReader(strings.NewReader(text))
	return readHello(func() (string, error) {
		line, err := lines.ReadString('\n')
		return strings.TrimSuffix(line, "\n"), err
	})
}

// TestMeet: rank 1 is taken for it only if it says so, and that it has what rank 0 has, in every line.
func TestMeet(t *testing.T) {
	const rank1, has = "rank 1 of 2\n", "name x\ntypes int8\nops sum\nvalues nan\nleast 1\nprimitive AllReduce apart\n"
	for says, want := range map[string]string{
		rank1 + has:           "",
		"rank 0 of 2\n" + has: "rank 1 says that it is rank 0",
		rank1 + strings.Replace(has, "name x", "name y", 1):        "does not have what",
		rank1 + strings.Replace(has, "int8", "int8 int16", 1):      "does not have what",
		rank1 + strings.Replace(has, "sum", "max", 1):              "does not have what",
		rank1 + strings.Replace(has, "nan", "overflow", 1):         "does not have what",
		rank1 + strings.Replace(has, "least 1", "least 2", 1):      "does not have what",
		rank1 + strings.Replace(has, "AllReduce", "Scan", 1):       "does not have what",
		rank1 + strings.Replace(has, "apart", "apart in-place", 1): "does not have what",
	} {
		w := &world{links: make([]*link, 2)}
		if err := w.meet(t.Context(), saying(t, "rank 0 of 2\n"+has), 0); err != nil {
			t.Fatal(err)
		}
		err := w.meet(t.Context(), saying(t, says), 1)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("after %q: %v, want %q in it", says, err, want)
		}
	}
}

// saying returns a link to a rank that writes a hello with the given lines.
func saying(t *testing.T, lines string) *link {
	t.Helper()
	ours, theirs := net.Pipe()
	t.Cleanup(func() { _ = ours.Close() })
	go func() {
		_, _ = io.WriteString(theirs, version+"\n"+lines+"ready\n")
		_ = theirs.Close()
	}()
	return newLink(ours)
}

// TestWrongAnswers: what is answered wrong, or not at all, is a failure of the call.
func TestWrongAnswers(t *testing.T) {
	says := map[string]string{
		"short answer": "hexadecimal digits for", "no digits": "digits", "chatter": "I am fine",
		"an error": "no such network",
		"endless":  "a line of more than", "empty answer": `wrote ""`, "wrong element": "element 0",
		"hangs": "still in call 1", "dies": "out of memory",
	}
	for fault, want := range says {
		t.Run(fault, func(t *testing.T) {
			job, err := NewJob(t.Context(), program(t, fault, "-"), nil, []int{2})
			if err != nil {
				t.Fatal(err)
			}
			s := colltest.NewSuite(job)
			s.Patience = 2 * time.Second
			f, err := s.Try(t.Context(), colltest.Case{Size: 2, Steps: []colltest.Step{
				{Primitive: "Broadcast", Type: spec.TypeInt8, Count: 1}}})
			if err != nil || f == nil || !strings.Contains(f.String(), want) {
				t.Errorf("%v, %v; want %q in it", f, err, want)
			}
			_ = s.Close()
		})
	}
}

// TestDoesNotEnd: ranks that stay are killed.
func TestDoesNotEnd(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes as long as ranks may take to end")
	}
	_, err := NewJob(t.Context(), program(t, "does not end", "-"), nil, []int{2})
	if err == nil || !strings.Contains(err.Error(), "has not ended") {
		t.Errorf("%v", err)
	}
}

func FuzzHello(f *testing.F) {
	f.Add(version + "\nrank 0 of 1\nname x\ntypes int8\nops sum\nvalues nan overflow\nleast 1\nprimitive AllReduce " +
		"apart in-place\nready\n")
	for _, text := range hellos {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		h, err := heard(text)
		if err == nil && (h.rank < 0 || h.rank >= h.size || len(h.can.Primitives) == 0 || len(h.can.Types) == 0) {
			t.Errorf("%q is read as %+v", text, h)
		}
	})
}

func FuzzAnswer(f *testing.F) {
	for _, text := range answers {
		f.Add(text)
	}
	f.Add("done 000102")
	f.Fuzz(func(t *testing.T, line string) {
		memory := []byte{7, 7, 7}
		if err := decodeAnswer(line, memory); err != nil && string(memory) != "\a\a\a" {
			t.Errorf("%q is refused, and memory is %x", line, memory)
		}
	})
}
