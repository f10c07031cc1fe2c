package hosts

import (
	"context"
	"slices"
	"testing"

	"github.com/collgen/collgen/fast"
)

// planted are mistakes in calls of two levels.
var planted = map[string]func(l *library){
	"each level divides by its number of ranks": func(l *library) {
		l.into["AllReduce"] = func(ctx context.Context, h *Comm, dst, src []int64, op fast.Op, _ int) error {
			if err := fast.ReduceInto(ctx, h.near.Comm, dst, src, op, 0); err != nil {
				return err
			}
			if h.leads() {
				if err := fast.AllReduce(ctx, h.far.Comm, dst, op); err != nil {
					return err
				}
			}
			return fast.Broadcast(ctx, h.near.Comm, dst, 0)
		}
	},
	"nothing is divided":              sums("AllReduce"),
	"no sum at the root is divided":   sums("Reduce"),
	"no block of the sums is divided": sums("ReduceScatter"),
	"other ranks than the leaders get nothing": func(l *library) {
		l.into["AllReduce"] = func(ctx context.Context, h *Comm, dst, src []int64, op fast.Op, _ int) error {
			before := slices.Clone(dst)
			err := AllReduceInto(ctx, h, dst, src, op)
			if !h.leads() {
				copy(dst, before)
			}
			return err
		}
	},
	"the leader of the root's host counts twice": func(l *library) {
		l.into["Reduce"] = func(ctx context.Context, h *Comm, dst, src []int64, op fast.Op, root int) error {
			sum := slices.Clone(src)
			if h.seatHere(root) > 0 && h.leads() {
				for i := range sum {
					sum[i] *= 2
				}
			}
			return ReduceInto(ctx, h, dst, sum, op, root)
		}
	},
	"Reduce writes the result of a host over the input of its leader": func(l *library) {
		l.into["Reduce"] = func(ctx context.Context, h *Comm, dst, src []int64, op fast.Op, root int) error {
			if err := ReduceInto(ctx, h, dst, src, op, root); err != nil {
				return err
			}
			if h.leads() && h.c.Rank() != root {
				copy(src, room[int64](h, 0, len(src)))
			}
			return nil
		}
	},
	"the root is taken for the leader of its host": misplaced(func(h *Comm) { clear(h.seatOf) }),
	"the last host is taken for that of all roots": misplaced(func(h *Comm) {
		for rank := range h.hostOf {
			h.hostOf[rank] = max(h.hostOf[rank], min(1, len(h.hosts)-1))
		}
	}),
	"blocks are taken to lie host by host": misplaced(func(h *Comm) { h.mixed = false }),
	"the order of ranks is that of their seats": misplaced(func(h *Comm) {
		slices.SortStableFunc(h.order, func(a, b int) int { return h.seatOf[a] - h.seatOf[b] })
	}),
	"all hosts are taken to have as many ranks as this one before them": misplaced(func(h *Comm) {
		h.first = h.hostOf[h.rank()] * len(h.near.ranks)
	}),
	"AllToAll puts the blocks of a host by rank first, then by seat": func(l *library) {
		l.into["AllToAll"] = func(ctx context.Context, h *Comm, dst, src []int64, _ fast.Op, _ int) error {
			if err := AllToAllInto(ctx, h, dst, src); err != nil {
				return err
			}
			count := len(src) / h.size()
			for _, ranks := range h.hosts {
				if len(ranks) > 1 && h.seatOf[h.rank()] == 1 {
					first, second := dst[ranks[0]*count:][:count], dst[ranks[1]*count:][:count]
					for i := range first {
						first[i], second[i] = second[i], first[i]
					}
				}
			}
			return nil
		}
	},
	"a barrier is one on each host": func(l *library) {
		l.barrier = func(ctx context.Context, h *Comm) error { return fast.Barrier(ctx, h.near.Comm) }
	},
	"a barrier lets the leaders go before their hosts have come": func(l *library) {
		l.barrier = func(ctx context.Context, h *Comm) error {
			if h.leads() {
				if err := fast.Barrier(ctx, h.far.Comm); err != nil {
					return err
				}
			}
			return nil
		}
	},
}

// sums is the mistake of a call that averages as if it were to sum up.
func sums(name string) func(*library) {
	return func(l *library) {
		right := l.into[name]
		l.into[name] = func(ctx context.Context, h *Comm, dst, src []int64, op fast.Op, root int) error {
			return right(ctx, h, dst, src, combining(op), root)
		}
	}
}

// misplaced is a mistake in what ranks know of the hosts.
func misplaced(by func(h *Comm)) func(*library) {
	return func(l *library) {
		l.on = func(ctx context.Context, c *fast.Comm, hosts [][]int) (*Comm, error) {
			h, err := on(ctx, c, hosts)
			if err == nil {
				by(h)
			}
			return h, err
		}
	}
}

// TestPlanted: each mistake is seen in one of the calls that the tests make on some hosts, by a wrong result or an
// error.
func TestPlanted(t *testing.T) {
	for name, plant := range planted {
		t.Run(name, func(t *testing.T) {
			for _, p := range some {
				wrong := made()
				plant(wrong)
				if err := p.goroutines(t.Context(), wrong, 5); err != nil {
					return
				}
			}
			t.Error("no call shows it")
		})
	}
}
