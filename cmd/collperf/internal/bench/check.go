package bench

import "context"

func (b *buffers[T]) check(ctx context.Context) (int, error) {
	b.rewrite()
	set(b.out, b.values.of(unwritten))
	fill(b.in, b.values.inputs, b.own()) // in place, it may be part of the output that was just filled
	if err := b.call(ctx); err != nil {
		return 0, err
	}
	return b.wrongResult() + b.wrongRest(), nil
}

// wrongResult counts the elements of the output that differ from the promised result.
func (b *buffers[T]) wrongResult() (n int) {
	if !b.holder(b.role) {
		return 0
	}
	for block := range len(b.out) / max(1, b.Count) {
		from, source := b.from(b.role, block)
		table, index := b.values.inputs, b.shift+offset*from
		if from == combined {
			table, index = b.values.results, b.shift
		}
		n += wrong(b.out[block*b.Count:][:b.Count], table, index+source*b.Count)
	}
	return n
}

// wrongRest counts the elements outside the result that have changed.
func (b *buffers[T]) wrongRest() (n int) {
	holds, inPlace := b.holder(b.role), b.role.inPlace
	if !holds && !inPlace {
		n += changed(b.out, b.values.of(unwritten))
	}
	switch {
	case !holds || !inPlace:
		n += wrong(b.in, b.values.inputs, b.own())
	case len(b.in) > len(b.out): // except the own block, which has the result
		at := b.rank * b.Count
		n += wrong(b.in[:at], b.values.inputs, b.own())
		n += wrong(b.in[at+b.Count:], b.values.inputs, b.own()+at+b.Count)
	}
	return n
}
