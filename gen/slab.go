package gen

// slab hands out short slices that lie one behind the other, so that a Schedule is a few allocations.
type slab[T any] struct{ free []T }

func (s *slab[T]) take(n int) []T {
	if len(s.free) < n {
		s.free = make([]T, max(n, 256))
	}
	taken := s.free[:n:n]
	s.free = s.free[n:]
	return taken
}

func (s *slab[T]) one(value T) []T {
	taken := s.take(1)
	taken[0] = value
	return taken
}
