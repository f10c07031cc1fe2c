package fast

import (
	"context"
	"errors"
	"strings"
	"testing"
)

// torchrun's variables for rank 0 of 1.
func setEnv(t *testing.T, changes map[string]string) {
	for name, value := range map[string]string{"RANK": "0", "WORLD_SIZE": "1", "LOCAL_RANK": "0", "LOCAL_WORLD_SIZE": "1",
		"MASTER_ADDR": "localhost", "MASTER_PORT": "29500", "COLL_DIR": ""} {
		if v, ok := changes[name]; ok {
			value = v
		}
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

// TestFromEnvNamesTheVariable that is missing or wrong.
func TestFromEnvNamesTheVariable(t *testing.T) {
	for _, c := range []struct{ name, value, want string }{
		{"RANK", "", "RANK is not set"},
		{"RANK", "one", `RANK is "one", want a number from 0 on`},
		{"RANK", "-1", `RANK is "-1"`},
		{"RANK", "1", "RANK is 1, and WORLD_SIZE is 1"},
		{"WORLD_SIZE", "", "WORLD_SIZE is not set"},
		{"WORLD_SIZE", "0", `WORLD_SIZE is "0", want a number from 1 on`},
		{"WORLD_SIZE", "99999999999999999999", "WORLD_SIZE is"},
		{"LOCAL_RANK", "3", "LOCAL_RANK is 3 and RANK is 0: ranks on several machines are not supported yet"},
		{"LOCAL_RANK", "x", `LOCAL_RANK is "x"`},
		{"LOCAL_WORLD_SIZE", "8", "LOCAL_WORLD_SIZE is 8 and WORLD_SIZE is 1: ranks on several machines"},
		{"MASTER_ADDR", "", "MASTER_ADDR is not set"},
		{"MASTER_PORT", "", "MASTER_PORT is not set"},
		{"MASTER_PORT", "http", `MASTER_PORT is "http"`},
	} {
		setEnv(t, map[string]string{c.name: c.value})
		_, err := Init(t.Context(), FromEnv()...)
		if !errors.Is(err, ErrInvalidArgument) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s=%q: %v, want %s", c.name, c.value, err, c.want)
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
	} {
		if _, err := Init(t.Context(), opts...); !errors.Is(err, ErrInvalidArgument) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
