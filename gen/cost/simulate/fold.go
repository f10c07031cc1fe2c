package simulate

// folding says which ranks are played for all. Rank r does what rank r mod period does, at the same time, with partners
// as far from it: so each message of a rank that is not played is one of a rank that is, moved by whole periods. A
// period is all ranks of a host, or of a rack where there are several: they share what the first period shares.
type folding struct {
	size, period int
	xor          bool // a period is moved by ^, not by + modulo size
}

// everyRank has all ranks played.
func everyRank(size int) folding { return folding{size: size, period: size} }

// foldings returns those that a machine allows: none if its ranks do not come in equal periods.
func foldings(m *Machine, size int) (all []folding) {
	period := m.onHost(size)
	if m.HostsPerRack > 0 && m.HostsPerRack < (size-1)/period+1 {
		period *= m.HostsPerRack
	}
	if period == size || size%period != 0 {
		return nil
	}
	all = append(all, folding{size, period, false})
	if size&(size-1) == 0 {
		all = append(all, folding{size, period, true})
	}
	return all
}

// rank returns the rank that is played for r.
func (f *folding) rank(r int32) int32 { return r % int32(f.period) }

// pair returns p moved to where its sender is played.
func (f *folding) pair(p pair) pair {
	base := p.from - f.rank(p.from)
	if f.xor {
		return pair{p.from - base, p.to ^ base}
	}
	return pair{p.from - base, f.wrap(p.to - base)}
}

// wrap returns the rank that r means, which may be less than 0.
func (f *folding) wrap(r int32) int32 {
	if r < 0 {
		return r + int32(f.size)
	}
	return r
}

// distance returns how far a peer is from r.
func (f *folding) distance(r, peer int) int {
	if f.xor {
		return r ^ peer
	}
	return int(f.wrap(int32(peer - r)))
}

// hostOf returns the host of any rank.
func (w *world) hostOf(r int32) int32 { return r / int32(w.onHost) }

// beside reports whether both ranks are on one core.
func (w *world) beside(p pair) bool {
	return w.hostOf(p.from) == w.hostOf(p.to) && w.ranks[p.from].core == w.ranks[w.fold.rank(p.to)].core
}
