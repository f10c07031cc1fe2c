package verify_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

// The library that users import, on real data: what every call leaves on every rank is, bit for bit, what the declared
// schedule leaves there when it is played, and what the reference says, except for floats that are reduced in another
// order; nothing around the buffers is written. That holds for goroutines and for processes, however they talk to each
// other; for every algorithm, and for the one that the selection table gives; for every type, op, root and alignment,
// in place and not; for calls that are started, and for those on several communicators at the same time; for messages
// in any order; and however late a rank comes.

// checkWorld draws programs of up to so many calls, and runs them.
func checkWorld(size, calls int, w world) func(*rapid.T) {
	return func(t *rapid.T) {
		drawProgram(t, w, size, calls).check(t, w)
	}
}

func TestInProcess(t *testing.T) {
	for size := 1; size <= 9; size++ {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			rapid.Check(t, checkWorld(size, 4, goroutines(size)))
		})
	}
}

// TestProcesses runs all programs of one size on the same processes. More of these than there are processors take long:
// they make fewer calls.
func TestProcesses(t *testing.T) {
	for _, by := range transports {
		for size := 1; size <= by.most; size++ {
			t.Run(fmt.Sprint(by.name, "/", size), func(t *testing.T) {
				calls := 4
				if size > 4 {
					calls = 2
				}
				rapid.Check(t, checkWorld(size, calls, newProcesses(t, size, &by)))
			})
		}
	}
}

// FuzzInProcess lets the fuzzer choose what rapid draws. Few programs can be drawn from less than 4 KiB.
func FuzzInProcess(f *testing.F) {
	for seed := range byte(8) {
		bytes := make([]byte, 4096)
		_, _ = rand.NewChaCha8([32]byte{seed}).Read(bytes)
		f.Add(bytes)
	}
	f.Fuzz(rapid.MakeFuzz(func(t *rapid.T) {
		size := rapid.IntRange(1, 9).Draw(t, "size")
		checkWorld(size, 4, goroutines(size))(t)
	}))
}
