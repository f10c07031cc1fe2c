package main

import "slices"

// contest is what runs together in a round: whoever runs this collective at this size. Several rows may look at one.
type contest struct {
	Collective string `json:"collective"`
	Transport  string `json:"transport"`
	Ranks      int    `json:"ranks"`
	Bytes      int    `json:"bytes"`
	TwoBuffers bool   `json:"twoBuffers,omitempty"`
}

func (r *row) bytes() []int {
	if r.sizes == nil {
		return columns
	}
	return r.sizes
}

func (r *row) contest(bytes int) contest {
	return contest{r.collective, r.transport, r.ranks, bytes, r.twoBuffers}
}

// field is a contest and who runs in it.
type field struct {
	contest
	ours  []bool // whether registered
	peers []string
}

// fields returns the contests of the cells that are wanted, each once, in the order of the table.
func fields(wanted func(r *row, bytes int) bool) (all []*field) {
	for i := range rows {
		r := &rows[i]
		for _, bytes := range r.bytes() {
			if wanted(r, bytes) {
				all = r.join(all, bytes)
			}
		}
	}
	return all
}

// join puts those who run in a cell of r into the field of its contest.
func (r *row) join(all []*field, bytes int) []*field {
	at := slices.IndexFunc(all, func(f *field) bool { return f.contest == r.contest(bytes) })
	if at < 0 {
		at, all = len(all), append(all, &field{contest: r.contest(bytes)})
	}
	f := all[at]
	if !slices.Contains(f.ours, r.registered) {
		f.ours = append(f.ours, r.registered)
	}
	for _, p := range r.peers {
		if !slices.Contains(f.peers, p) {
			f.peers = append(f.peers, p)
		}
	}
	return all
}
