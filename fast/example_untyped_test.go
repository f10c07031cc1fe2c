package fast_test

import (
	"context"
	"encoding/binary"
	"fmt"

	"github.com/collgen/collgen/fast"
	"github.com/collgen/collgen/spec"
)

// What a program reads of its calls: the name of the collective and the type of the elements are values.
func ExampleDo() {
	err := fast.Run(context.Background(), 3, func(ctx context.Context, c *fast.Comm) error {
		buf := binary.NativeEndian.AppendUint32(nil, uint32(c.Rank()+1))
		call := fast.Call{Collective: "AllReduce", Type: spec.TypeUint32, Op: fast.Prod, Dst: buf, Src: buf}
		if err := fast.Do(ctx, c, call); err != nil {
			return err
		}
		if c.Rank() == 0 {
			fmt.Println(binary.NativeEndian.Uint32(buf))
		}
		return fast.Start(ctx, c, fast.Call{Collective: "Barrier"}).Wait(ctx)
	})
	fmt.Println(err)
	// Output:
	// 6
	// <nil>
}
