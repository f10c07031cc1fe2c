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
// enough, and then one whenever that time has doubled. All of this begins anew when it waits for others.
func TestWaitMoves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		ctx, stop := Warner{slog.New(slog.NewTextHandler(&log, nil)), 10 * time.Second}.Watch(t.Context(), "Init")
		start := time.Now()
		wire.ReportWait(ctx, func() []int {
			if time.Since(start) >= 9*time.Minute {
				return []int{7}
			}
			return make([]int, max(2, 100-int(time.Since(start)/(5*time.Second))))
		})
		time.Sleep(8 * time.Minute)
		if log.Len() > 0 {
			t.Errorf("it makes progress, and there is a warning: %s", &log)
		}
		time.Sleep(time.Minute + 25*time.Second)
		stop()
		synctest.Wait()
		for _, want := range []string{`"[0 0]" seconds=10 running=500`, `"[0 0]" seconds=20 running=510`,
			`"[0 0]" seconds=40 running=530`, `[7] seconds=10 running=550`, `[7] seconds=20 running=560`} {
			line, err := log.ReadString('\n')
			if err != nil || !strings.Contains(line, "primitive=Init waiting="+want) {
				t.Errorf("%q, %v, want %s", line, err, want)
			}
		}
		if log.Len() > 0 {
			t.Errorf("there is one more warning: %s", &log)
		}
	})
}
