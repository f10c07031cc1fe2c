package program

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
	"testing"
)

// asProgram, in the environment, says how the test binary is to end as a program.
const asProgram = "COLLGEN_TEST_PROGRAM"

func TestMain(m *testing.M) {
	if how := os.Getenv(asProgram); how != "" {
		Main("tried", func(ctx context.Context, args []string, stdout, stderr io.Writer) error {
			switch how {
			case "help":
				return flag.ErrHelp
			case "interrupted":
				_ = syscall.Kill(os.Getpid(), syscall.SIGTERM)
				<-ctx.Done()
				return ctx.Err()
			case "fails":
				return errors.New("no luck")
			}
			_, err := fmt.Fprint(stdout, "well")
			return err
		})
	}
	os.Exit(m.Run())
}

// TestMainsStatus has the test binary end in all ways.
func TestMainsStatus(t *testing.T) {
	for _, tc := range []struct {
		how         string
		status      int
		out, report string
	}{{"well", 0, "well", ""}, {"help", 0, "", ""}, {"fails", 1, "", "tried: no luck\n"}, {"interrupted", 130, "", ""}} {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), asProgram+"="+tc.how)
		var out, report bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &report
		_ = cmd.Run()
		if got := cmd.ProcessState.ExitCode(); got != tc.status || out.String() != tc.out || report.String() != tc.report {
			t.Errorf("%s: status %d, %q, %q", tc.how, got, &out, &report)
		}
	}
}
