package ref

import "slices"

// Send gives the peer the input of the root.
func (c Call[T]) Send() [][]T { return c.only(c.Peer, slices.Clone(c.In[c.Root])) }
