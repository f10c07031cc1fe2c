package fast

import "testing"

// TestSendAndClose: over RDMA, what a rank has sent comes, however soon it closes after that, and however late the
// other one calls for it.
func TestSendAndClose(t *testing.T) {
	for range 8 {
		all := rdmaWorld.comms(t, 2)
		from, to := []int32{7}, []int32{0}
		if err := Broadcast(t.Context(), all[0], from, 0); err != nil {
			t.Fatal(err)
		}
		if err := all[0].Close(); err != nil {
			t.Error(err)
		}
		if err := Broadcast(t.Context(), all[1], to, 0); err != nil || to[0] != 7 {
			t.Fatal(to, err)
		}
		if err := all[1].Close(); err != nil {
			t.Error(err)
		}
	}
}
