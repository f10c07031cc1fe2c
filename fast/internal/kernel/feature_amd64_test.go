//go:build amd64 && !purego

package kernel

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// TestFeatures: where the processor lacks any part of what an implementation is made of, that one is not taken.
func TestFeatures(t *testing.T) {
	if os.Getenv("KERNEL_TEST_FEATURES") != "" {
		for _, c := range candidates {
			if c.missing == "" {
				t.Log("takes " + c.name)
			}
		}
		return
	}
	of512 := []string{"avx512"}
	for off, not := range map[string][]string{"none": nil, "avx2": {"avx2"}, "f16c": {"avx2"}, "avx512f": of512,
		"avx512bw": of512,
		"avx512dq": of512, "avx512vl": of512} {
		cmd := exec.Command(os.Args[0], "-test.run=^TestFeatures$", "-test.v")
		cmd.Env = append(os.Environ(), "KERNEL_TEST_FEATURES=1", "GODEBUG=cpu."+off+"=off")
		out, err := cmd.CombinedOutput()
		if err != nil || !strings.Contains(string(out), "takes generic") {
			t.Errorf("without %s: %v\n%s", off, err, out)
		}
		for _, name := range not {
			if strings.Contains(string(out), "takes "+name) {
				t.Errorf("without %s, %s is taken:\n%s", off, name, out)
			}
		}
	}
}
