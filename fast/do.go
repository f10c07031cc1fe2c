package fast

import "context"

// Do carries out one call of k on c. dst and src are the rank's Out and In, nil where it passes none.
func Do[T Elem](ctx context.Context, c *Comm, k *Collective, dst, src []T, args Args, opts []Option) error {
	panic("TODO")
}
