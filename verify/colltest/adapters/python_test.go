package main

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// python skips the test where there is no Python, and has it find collgen_conform.
func python(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skipf("left out: %v", err)
	}
	t.Setenv("PYTHONPATH", ".")
}

// TestPython: collectives in Python conform, and one that adds an element twice does not.
func TestPython(t *testing.T) {
	python(t)
	fail(t, conforms(t, []int{1, 2, 3}, nil, "python3", "testdata/mesh.py", "{n}"))
	fail(t, conforms(t, []int{2}, nil, "python3", "testdata/mesh.py", "{n}", "spoil"), "AllReduce")
}

// TestPythonAlone: a rank that uses its standard input and output conforms. It is the one that docs/conform.md shows.
func TestPythonAlone(t *testing.T) {
	python(t)
	fail(t, conforms(t, []int{1}, nil, "python3", "testdata/copies.py", "{rank}"))
	program, err := os.ReadFile("testdata/copies.py")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("../../../docs/conform.md")
	if err != nil || !strings.Contains(string(text), "```python\n"+string(program)+"```\n") {
		t.Errorf("docs/conform.md does not show testdata/copies.py, %v", err)
	}
}

// TestPythonWords: testdata/words.txt is what collgen says (>) and what the rank of testdata/words.py answers (<).
func TestPythonWords(t *testing.T) {
	python(t)
	text, err := os.ReadFile("testdata/words.txt")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	cmd := exec.CommandContext(ctx, "python3", "testdata/words.py")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	answers := bufio.NewScanner(out)
	for line := range strings.Lines(string(text)) {
		says, isSaid := strings.CutPrefix(line, "> ")
		if isSaid {
			if _, err := in.Write([]byte(says)); err != nil {
				t.Fatal(err)
			}
		} else if want := strings.TrimPrefix(line, "< "); !answers.Scan() || answers.Text()+"\n" != want {
			t.Fatalf("the answer is %q, want %q", answers.Text(), want)
		}
	}
	if answers.Scan() {
		t.Errorf("after the end it says %q", answers.Text())
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}
