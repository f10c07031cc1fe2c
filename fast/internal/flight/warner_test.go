package flight

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/collgen/collgen/fast/internal/wire"
)

// TestWaitMoves: there is no warning of a wait for fewer and fewer ranks before it has been for the same ranks for long
// enough, and then one whenever that time has doubled.
func TestWaitMoves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		ctx, stop := Warner{slog.New(slog.NewTextHandler(&log, nil)), 10 * time.Second}.Watch(t.Context(), "Init")
		start := time.Now()
		wire.ReportWait(ctx, func() []int { return make([]int, max(2, 100-int(time.Since(start)/(5*time.Second)))) })
		time.Sleep(8 * time.Minute)
		if log.Len() > 0 {
			t.Errorf("it makes progress, and there is a warning: %s", &log)
		}
		time.Sleep(time.Minute)
		stop()
		synctest.Wait()
		for _, want := range []string{"seconds=10 running=500", "seconds=20 running=510", "seconds=40 running=530"} {
			line, err := log.ReadString('\n')
			if err != nil || !strings.Contains(line, `primitive=Init waiting="[0 0]" `+want) {
				t.Errorf("%q, %v, want %s", line, err, want)
			}
		}
		if log.Len() > 0 {
			t.Errorf("there is one more warning: %s", &log)
		}
	})
}
