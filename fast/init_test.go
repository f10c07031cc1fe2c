package fast

import (
	"context"
	"errors"
	"maps"
	"os"
	"strings"
	"testing"
	"time"
)

// torchrun's variables for rank 0 of 1.
func setEnv(t *testing.T, changes map[string]string) {
	t.Helper()
	env := map[string]string{"RANK": "0", "WORLD_SIZE": "1", "LOCAL_RANK": "0", "LOCAL_WORLD_SIZE": "1",
		"MASTER_ADDR": "localhost", "MASTER_PORT": "29500"}
	maps.Copy(env, changes)
	for name, value := range env {
		t.Setenv(name, value)
	}
}

// TestInitAlone needs nobody, and so no memory to share: it works everywhere.
func TestInitAlone(t *testing.T) {
	setEnv(t, nil)
	for _, opts := range [][]InitOption{FromEnv(), {WithRank(0, 1)}} {
		c, err := Init(t.Context(), opts...)
		if err != nil {
			t.Fatal(err)
		}
		buf := []float32{1, 2}
		if err := AllReduce(t.Context(), c, buf, Sum); err != nil || buf[1] != 2 || c.Size() != 1 {
			t.Error(buf, err)
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestInitRefuses(t *testing.T) {
	var none context.Context
	if _, err := Init(none, WithRank(0, 1)); !errors.Is(err, ErrInvalidArgument) {
		t.Errorf("no context: %v", err)
	}
	for want, opts := range map[string][]InitOption{
		"the rank is not given":    nil,
		"an option is nil":         {WithRank(0, 1), nil},
		"there is no rank 2 of 2":  {WithRank(2, 2)},
		"there is no rank -1 of 2": {WithRank(-1, 2)},
		"there is no rank 0 of -3": {WithRank(0, -3)},
		"heartbeat timeout of 1ms": {WithRank(0, 1), WithHeartbeatTimeout(time.Millisecond)},
		`a store at "nowhere"`:     {WithRank(0, 1), WithStoreAddress("nowhere")},
		`interface "nosuch0"`:      {WithRank(0, 1), WithInterface("nosuch0")},
		"which is no directory":    {WithRank(0, 1), WithTraceDir(os.DevNull)},
	} {
		if _, err := Init(t.Context(), opts...); !errors.Is(err, ErrInvalidArgument) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
