package fast

import (
	"context"
	"errors"
	"testing"
)

// TestNoComm makes calls without a communicator: they are refused, and nothing is divided by its size.
func TestNoComm(t *testing.T) {
	for name, c := range map[string]*Comm{"nil": nil, "one that nobody made": new(Comm)} {
		buf := make([]int32, 3)
		for call, err := range map[string]error{
			"AllToAll":   AllToAll(context.Background(), c, buf),
			"AllGather":  AllGather(context.Background(), c, buf),
			"Gather":     Gather(context.Background(), c, buf, 1),
			"Scatter":    Scatter(context.Background(), c, buf, -1),
			"Broadcast":  Broadcast(context.Background(), c, buf, 0),
			"ReduceInto": ReduceInto(context.Background(), c, nil, buf, Sum, 0),
		} {
			if !errors.Is(err, ErrInvalidArgument) {
				t.Errorf("%s on %s: %v", call, name, err)
			}
		}
	}
}
