package wire

import "slices"

// Renumbered returns the first error of a rank's own in err, which is one of a part of a communicator, with ranks of
// the whole: rank r of the part is ranks[r] there. An error that names no rank is returned as it is. What another rank
// has told of its own error is not changed.
func Renumbered(err error, ranks []int) error {
	if timeout, ok := Expired(err); ok {
		return &TimeoutError{Waiting: renumber(timeout.Waiting, ranks), Err: timeout.Err}
	}
	if mismatch, ok := Own[*MismatchError](err); ok {
		whole := *mismatch
		whole.Rank = ranks[whole.Rank]
		return &whole
	}
	if deadlock, ok := Own[*DeadlockError](err); ok {
		whole := &DeadlockError{Sends: deadlock.Sends}
		for _, rank := range deadlock.Ranks {
			whole.Ranks = append(whole.Ranks, ranks[rank])
		}
		return whole
	}
	if peer, ok := Own[*PeerError](err); ok {
		return &PeerError{Rank: ranks[peer.Rank], Err: peer.Err}
	}
	return err
}

// renumber returns the ranks of a part as ranks of the whole, in ascending order.
func renumber(part, ranks []int) []int {
	whole := make([]int, len(part))
	for i, rank := range part {
		whole[i] = ranks[rank]
	}
	slices.Sort(whole)
	return whole
}
