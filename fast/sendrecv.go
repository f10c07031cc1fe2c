package fast

import "context"

// receive is the collective send under the name that receivers know it by.
var receive = func() Collective {
	k := send
	k.Name = "Recv"
	return k
}()

// Send sends buf to the rank to, which calls Recv with as many elements of the same type; no other rank takes part. It
// may return before they arrived, and buf may then be changed.
//
// Calls between two ranks match in the order in which they are made, apart from the collectives. Like all calls, one at a
// time runs on a Comm. Send may wait for the receiver: two ranks that both send first may wait for each other, until ctx
// ends or their disagreement is found.
func Send[T Elem](ctx context.Context, c *Comm, buf []T, to int) error {
	return Do(ctx, c, &send, nil, buf, Args{Count: len(buf), Root: c.Rank(), Peer: to, NoAlias: true}, nil)
}

// Recv fills buf with what the rank from sends.
func Recv[T Elem](ctx context.Context, c *Comm, buf []T, from int) error {
	return Do(ctx, c, &receive, buf, nil, Args{Count: len(buf), Root: from, Peer: c.Rank(), NoAlias: true}, nil)
}
