package fast

import (
	"os"
	"runtime"
	"testing"

	"github.com/collgen/collgen/fast/internal/bootstrap"
	"github.com/collgen/collgen/fast/internal/fasttest"
)

// TestMessagesReadMemory: ranks know each other's process for messages where they share memory, and not where TCP or
// other settings keep them from it.
func TestMessagesReadMemory(t *testing.T) {
	secluded := fasttest.Option[InitOption](func(p *bootstrap.Config) { p.Transport, p.NoCMA = "shm", true })
	alone := func(t testing.TB, size int) []*Comm { return fasttest.InitAll(t, size, Init, secluded) }
	for _, w := range append(fasttest.Worlds(Init), fasttest.World[*Comm]{Name: "secluded", Comms: alone}) {
		t.Run(w.Name, func(t *testing.T) {
			all := w.Comms(t, 3)
			want := map[int]int{}
			switch {
			case runtime.GOOS != "linux":
			case w.Name == "shm":
				want[1], want[2] = os.Getpid(), os.Getpid()
			case w.Name == "mixed": // ranks 0 and 2 are on one host
				want[2] = os.Getpid()
			}
			for peer := 1; peer < 3; peer++ {
				if got := (messaging{all[0]}).Process(peer); got != want[peer] {
					t.Errorf("the process of rank %d is %d, want %d", peer, got, want[peer])
				}
			}
			fasttest.CloseAll(t, all)
		})
	}
}
