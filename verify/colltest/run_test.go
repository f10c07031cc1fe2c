package colltest_test

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/collgen/collgen/verify/colltest"
)

// faultyVariable has TestFaulty test a faulty implementation.
const faultyVariable = "COLLTEST_TEST_FAULTY"

// TestFaulty fails where TestAgain runs it.
func TestFaulty(t *testing.T) {
	if os.Getenv(faultyVariable) == "" {
		t.Skip("it is for TestAgain")
	}
	impl := &central{can: colltest.Everything("faulty", 1, 2), fault: leaves(func(c *colltest.Call) bool {
		return c.Root == 1
	})}
	impl.can.Primitives = only(impl.can, "Broadcast")
	colltest.Run(t, impl)
}

// TestAgain: the command that Run prints repeats a failure, and makes no other call.
func TestAgain(t *testing.T) {
	test := func(env ...string) (output string, err error) {
		c := exec.CommandContext(t.Context(), os.Args[0], "-test.run", "^TestFaulty$", "-test.v")
		c.Env = append(os.Environ(), append(env, faultyVariable+"=1")...)
		out, err := c.CombinedOutput()
		return string(out), err
	}
	first, err := test()
	again := regexp.MustCompile(`again: (COLLTEST_CASE)='(.*)' go test -run '\^TestFaulty\$'`).FindStringSubmatch(first)
	if err == nil || again == nil {
		t.Fatalf("it ends with %v and prints no command:\n%s", err, first)
	}
	if second, err := test(again[1] + "=" + again[2]); err == nil || !strings.Contains(second, "call 1, rank") ||
		strings.Contains(second, "tested:") {
		t.Errorf("again, it ends with %v:\n%s", err, second)
	}
	passes := strings.Replace(again[2], `"Root":1`, `"Root":0`, 1)
	second, err := test(again[1] + "=" + passes)
	if err != nil || !strings.Contains(second, "the case has passed 5 times") {
		t.Errorf("with another root, it ends with %v:\n%s", err, second)
	}
	if second, err := test(again[1] + `={"Rank": 1}`); err == nil || !strings.Contains(second, `unknown field "Rank"`) {
		t.Errorf("what is no case ends with %v:\n%s", err, second)
	}
}
