package control

import "github.com/collgen/collgen/fast/internal/wire"

// WorldID is the number of the first communicator of a job.
const WorldID = 1

// DeriveID returns the number of a communicator that is made from another one. The salt distinguishes those that are
// made from the same one.
func DeriveID(parent uint64, salt ...uint64) uint64 {
	h := parent
	for _, s := range salt {
		h = wire.Mix(h ^ s)
	}
	return h | 1<<63 // differs from WorldID
}

// The salts of the different ways to make a communicator from another one. Split uses a random salt.
const (
	GroupSalt = (1 + iota) << 32
	ShrinkSalt
	GrowSalt
	AllocSalt // of what Alloc agrees on, which is no communicator
)
