package launch

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestAuto: the file of this machine counts if there is one, and all ranks are on this host.
func TestAuto(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Setenv("HOME", t.TempDir()) // of macOS
	path, err := TunedFile()
	if err != nil {
		t.Fatal(err)
	}
	detect := func(v variables) Launch {
		l, err := Detect(v.with("COLL_TUNE=auto").get)
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	if l := detect(collrun); l.Tune != "" || !strings.Contains(l.Reason, path) {
		t.Errorf("without the file: %q, %s", l.Tune, l.Reason)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if l := detect(collrun); l.Tune != path {
		t.Errorf("with the file: %q, %s", l.Tune, l.Reason)
	}
	for _, v := range []variables{set("COLL_RANK=0 COLL_SIZE=1"), set("COLL_RANK=0 COLL_SIZE=2 COLL_STORE=local")} {
		if l := detect(v); l.Tune != path {
			t.Errorf("on one host, as can be told: %q, %s", l.Tune, l.Reason)
		}
	}
	for _, v := range []variables{torchrunOnTwo, pod} {
		if l := detect(v); l.Tune != "" || !strings.Contains(l.Reason, "that all ranks are on this host") {
			t.Errorf("on several hosts: %q, %s", l.Tune, l.Reason)
		}
	}
}

// TestDescribe: what changes with time makes no difference, and the number of processors does.
func TestDescribe(t *testing.T) {
	const one = "processor\t: 0\nmodel name\t: A 1\ncpu MHz\t\t: 2500.0\nflags\t\t: fpu erms\n\n"
	text := func(cpuinfo string) string {
		var b strings.Builder
		describe(&b, strings.NewReader(cpuinfo))
		return b.String()
	}
	if got := text(one); got != "model name A 1\nflags fpu erms\n" {
		t.Errorf("%q", got)
	}
	if text(one) != text(strings.Replace(one, "2500", "1800", 1)) || text(one) == text(one+one) ||
		text(one) == text(strings.Replace(one, " erms", "", 1)) {
		t.Error("the wrong lines count")
	}
}
