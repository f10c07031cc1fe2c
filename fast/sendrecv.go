package fast

import "context"

// Send sends buf to the rank to, which has to call Recv with as many elements of the same type. It may return before
// they arrived. Messages from one rank to another arrive in the order in which they were sent.
func Send[T Elem](ctx context.Context, c *Comm, buf []T, to int) error {
	return Do(ctx, c, &send, nil, buf, Args{Count: len(buf), Root: c.Rank(), Peer: to, NoAlias: true}, nil)
}

// Recv fills buf with what the rank from sends.
func Recv[T Elem](ctx context.Context, c *Comm, buf []T, from int) error {
	return Do(ctx, c, &send, buf, nil, Args{Count: len(buf), Root: from, Peer: c.Rank(), NoAlias: true}, nil)
}
