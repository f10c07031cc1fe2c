package repotest

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestGuides makes the files that a guide shows, runs its commands one after the other in a module of its own beside a
// clone, as the guide says, and compares what they print with what the guide shows.
func TestGuides(t *testing.T) {
	for _, name := range []string{"getting-started", "writing-a-collective", "testing-an-implementation"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if commands := followGuide(t, read(t, "docs/"+name+".md")); commands < 3 {
				t.Errorf("the guide has %d commands", commands)
			}
		})
	}
}

// TestGuidesCanFail follows a guide whose last command prints something else than it shows.
func TestGuidesCanFail(t *testing.T) {
	lines := "one 1\ntwo 2\nexit status 3\n"
	for shown, want := range map[string]string{
		"two 2\none …\nexit status 3\n": "",
		"one 1\n…\n":                    "",
		"one 1\ntwo 2\n":                "does not show: exit status 3",
		"one 1\nthree\n…\n":             "shows, and nothing prints: three",
	} {
		if got := fmt.Sprint(errors.Join(compareOutput(shown, lines)...)); !strings.Contains(got, want) || want == "" &&
			got != "<nil>" {
			t.Errorf("%q: %s", shown, got)
		}
	}
}

// shownBlock is a block of code in a guide: a file, whose name follows its language, or commands with what they print.
var shownBlock = regexp.MustCompile("(?ms)^```(\\w+)(?: (\\S+))?\n(.*?)^```$")

// followGuide returns how many commands it has run.
func followGuide(t *testing.T, guide string) (commands int) {
	t.Helper()
	parent := t.TempDir()
	clone, err := os.Getwd()
	if err == nil {
		err = os.Symlink(clone, filepath.Join(parent, "collgen"))
	}
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(parent, "module")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, block := range shownBlock.FindAllStringSubmatch(guide, -1) {
		switch language, file, text := block[1], block[2], block[3]; {
		case file != "":
			writeFile(t, dir, file, text)
		case language == "console":
			for _, part := range strings.Split("\n"+text, "\n$ ")[1:] {
				command, shown, _ := strings.Cut(part, "\n")
				commands++
				printed := guideCommand(t, dir, command)
				if err := errors.Join(compareOutput(shown, printed)...); err != nil {
					t.Errorf("$ %s\n%v\nprinted:\n%s", command, err, printed)
				}
			}
		}
	}
	return commands
}

// guideCommand returns what a command prints, and how it ends unless that is well.
func guideCommand(t *testing.T, dir, command string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "bash", "-c", command)
	cmd.Dir = dir
	// What the module requires, this one has the sums of. Trimmed paths let builds of one run serve the next.
	cmd.Env = append(os.Environ(), "GOSUMDB=off", "GOFLAGS=-trimpath")
	out, err := cmd.CombinedOutput()
	if ended := new(exec.ExitError); err != nil && !errors.As(err, &ended) {
		t.Fatal(err)
	}
	if text := string(out); err == nil || strings.HasSuffix(text, err.Error()+"\n") {
		return text
	}
	return string(out) + err.Error() + "\n"
}

// compareOutput returns how lines that were printed differ from those shown, in any order, as ranks print them. An
// ellipsis stands for anything in a line, and in a line of its own for more lines.
func compareOutput(shown, printed string) (errs []error) {
	var patterns []*regexp.Regexp
	var sources []string
	more := false
	for line := range strings.Lines(shown) {
		if line = strings.TrimSpace(line); line == "…" {
			more = true
		} else if line != "" {
			pattern := strings.ReplaceAll(regexp.QuoteMeta(line), "…", ".*")
			patterns = append(patterns, regexp.MustCompile("^"+pattern+"$"))
			sources = append(sources, line)
		}
	}
	seen := make([]bool, len(patterns))
	for line := range strings.Lines(printed) {
		line = strings.TrimSpace(line)
		known := line == "" || more
		for i, p := range patterns {
			if p.MatchString(line) {
				known, seen[i] = true, true
			}
		}
		if !known {
			errs = append(errs, fmt.Errorf("does not show: %s", line))
		}
	}
	for i, line := range sources {
		if !seen[i] {
			errs = append(errs, fmt.Errorf("shows, and nothing prints: %s", line))
		}
	}
	return errs
}
