package examples

import (
	"context"
	"debug/elf"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// containerFile returns the instructions of Containerfile, without comments.
func containerFile(t *testing.T) (lines []string) {
	t.Helper()
	text, err := os.ReadFile("Containerfile")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			lines = append(lines, line)
		}
	}
	return lines
}

// TestContainer carries out here what Containerfile does in containers, which are not needed: it builds the program,
// and starts two ranks by the entry point, with a secret that the group can read, as in a pod whose user is not root.
func TestContainer(t *testing.T) {
	lines, dir := containerFile(t), t.TempDir()
	known := regexp.MustCompile(`^(FROM|ARG|WORKDIR|COPY|RUN|USER|ENV|ENTRYPOINT) `)
	for _, line := range lines {
		if !known.MatchString(line) {
			t.Errorf("not an instruction: %s", line)
		}
	}
	last := 0
	for i, line := range lines {
		if strings.HasPrefix(line, "FROM ") {
			last = i
		}
	}
	if user := slices.Index(lines, "USER 65532:65532"); user < last {
		t.Error("the last stage has no user, or its user is root")
	}
	here := strings.NewReplacer("/out/program", dir+"/program", "/program", dir+"/program",
		"/run/secrets/collgen/secret", dir+"/secret")
	built := exec.CommandContext(t.Context(), "sh", "-c", here.Replace(instruction(t, lines, "RUN CGO_ENABLED")))
	built.Dir, built.Env = "..", append(os.Environ(), instruction(t, lines, "ARG "))
	if out, err := built.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	wantStatic(t, dir+"/program")
	if err := os.WriteFile(dir+"/secret", []byte(strings.Repeat("ab", 32)), 0o640); err != nil {
		t.Fatal(err)
	}
	var entry []string
	if err := json.Unmarshal([]byte(here.Replace(instruction(t, lines, "ENTRYPOINT "))), &entry); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	store := filepath.Join(dir, "store")
	if err := os.Mkdir(store, 0o700); err != nil {
		t.Fatal(err)
	}
	var ranks sync.WaitGroup
	for _, rank := range []string{"0", "1"} {
		cmd := exec.CommandContext(ctx, entry[0], append(entry[1:], "-epochs", "1")...)
		cmd.Env = append(os.Environ(), instruction(t, lines, "ENV "), "COLL_RANK="+rank, "COLL_SIZE=2", "COLL_JOB=container",
			"COLL_STORE=file://"+store)
		ranks.Go(func() {
			out, err := cmd.CombinedOutput()
			if err != nil || !strings.Contains(string(out), "bit for bit those of all 2 ranks") {
				t.Errorf("rank %s: %v: %s", rank, err, out)
			}
		})
	}
	ranks.Wait()
}

// instruction returns what follows the word of the only instruction that begins so.
func instruction(t *testing.T, lines []string, begin string) string {
	t.Helper()
	i := slices.IndexFunc(lines, func(line string) bool { return strings.HasPrefix(line, begin) })
	if i < 0 {
		t.Fatalf("no instruction begins with %q", begin)
	}
	_, text, _ := strings.Cut(lines[i], " ")
	return text
}

// wantStatic fails the test if a program needs a loader, and with it libraries that its container may not have.
func wantStatic(t *testing.T, program string) {
	t.Helper()
	f, err := elf.Open(program)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if slices.ContainsFunc(f.Progs, func(p *elf.Prog) bool { return p.Type == elf.PT_INTERP }) {
		t.Errorf("%s is not static", program)
	}
}
