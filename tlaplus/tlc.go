package main

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
)

// The messages of TLC's -tool mode: their numbers are in tlc2.output.EC.
var (
	tlcInvariant = regexp.MustCompile(`@!@!@STARTMSG (?:2107|2110):1 @!@!@\n(?:Error: )?Invariant (\w+) is violated`)
	tlcInitial   = regexp.MustCompile(`@!@!@STARTMSG 2107:1 `)
	tlcDeadlock  = regexp.MustCompile(`@!@!@STARTMSG 2114:1 `)
	tlcProperty  = regexp.MustCompile(`@!@!@STARTMSG 2116:1 `)
	tlcSuccess   = regexp.MustCompile(`@!@!@STARTMSG 2193:0 `)
	tlcState     = regexp.MustCompile(`@!@!@STARTMSG 2217:4 `)
	tlcStates    = regexp.MustCompile(`(\d+) states generated, (\d+) distinct states found, \d+ states left on queue`)
)

// tlc is TLC, of the TLA+ tools in that jar: breadth first, with one worker, so that counterexamples are the shortest,
// and with properties checked at the end, so that it has then seen all states however slow the machine is.
func tlc(jar string) checker {
	return checker{"tlc", func(ctx context.Context, t *task) (r result, err error) {
		// Two at once would else unpack the standard modules over each other.
		cmd := exec.CommandContext(ctx, "java", "-Djava.io.tmpdir="+t.dir, "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1",
			"-Xmx2g", "-cp", jar, "tlc2.TLC",
			"-tool", "-workers", "1", "-lncheck", "final", "-metadir", filepath.Join(t.dir, "states"), "-config", t.model+".cfg",
			t.model+".tla")
		cmd.Dir = t.dir
		out, err := output(cmd)
		if err != nil {
			return r, err
		}
		if m := tlcStates.FindAllSubmatch(out, -1); m != nil {
			r.States, err = strconv.Atoi(string(m[len(m)-1][2]))
		}
		if r.Trace = len(tlcState.FindAll(out, -1)); r.Trace == 0 && tlcInitial.Match(out) {
			r.Trace, r.States = 1, max(1, r.States) // it neither lists nor counts it
		}
		switch invariant := tlcInvariant.FindSubmatch(out); {
		case err != nil:
		case invariant != nil:
			r.Verdict, r.Refused = string(invariant[1]), t.refusedIn(out)
		case tlcDeadlock.Match(out):
			r.Verdict = "deadlock"
		case tlcProperty.Match(out):
			r.Verdict = t.property
		case tlcSuccess.Match(out):
			r.Verdict = "ok"
		default:
			err = fmt.Errorf("TLC gave no verdict:\n%s", out)
		}
		return r, err
	}}
}
