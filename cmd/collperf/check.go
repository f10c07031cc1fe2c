package main

import "context"

func (b *buffers[T]) check(ctx context.Context) (int, error) {
	b.rewrite()
	fillWith(b.out, b.values.of(unwritten))
	fill(b.in, b.values.inputs, b.own()) // again, because in place it may be in the output
	if err := b.call(ctx); err != nil {
		return 0, err
	}
	return b.wrongResult() + b.wrongRest(), nil
}

// wrongResult counts the elements of the output that do not hold what is promised.
func (b *buffers[T]) wrongResult() (n int) {
	if !b.holder(b.role) {
		return 0
	}
	for block := range len(b.out) / max(1, b.count) {
		from, source := b.from(b.role, block)
		table, index := b.values.inputs, b.shift+apart*from
		if from == everybody {
			table, index = b.values.results, b.shift
		}
		n += wrong(b.out[block*b.count:][:b.count], table, index+source*b.count)
	}
	return n
}

// wrongRest counts the elements that are no part of a result and have changed nevertheless.
func (b *buffers[T]) wrongRest() (n int) {
	holds, inPlace := b.holder(b.role), b.role.inPlace
	if !holds && !inPlace {
		n += changed(b.out, b.values.of(unwritten))
	}
	switch {
	case !holds || !inPlace:
		n += wrong(b.in, b.values.inputs, b.own())
	case len(b.in) > len(b.out): // all but the own block, which has the result
		at := b.rank * b.count
		n += wrong(b.in[:at], b.values.inputs, b.own())
		n += wrong(b.in[at+b.count:], b.values.inputs, b.own()+at+b.count)
	}
	return n
}
