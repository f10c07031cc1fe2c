package colltest_test

import (
	"bytes"
	"context"
	"errors"
	"math"
	"math/big"
	"time"

	"github.com/collgen/collgen/spec"
	"github.com/collgen/collgen/verify/colltest"
)

// fault is what an implementation does wrong; the zero fault is nothing.
type fault struct {
	starts   func()                                                            // when a world starts
	enter    func(ctx context.Context, rank, size int, c *colltest.Call) error // when a call begins
	operands func(rank int, c *colltest.Call, operands [][]byte) [][]byte      // before they are combined
	combine  func(c *colltest.Call, x, y []byte) []byte                        // instead of the right one
	finish   func(c *colltest.Call, x []byte, size int) []byte                 // instead of the right one
	leave    func(rank, size int, c *colltest.Call)                            // when the result is there
	waits    func(c *colltest.Call) time.Duration                              // for others; nil: until they come
	early    bool                                                              // a barrier that nobody waits in
	ahead    bool                                                              // the root of a broadcast does not wait

	together  func(calls []*colltest.Call)      // before calls begin together
	batch     func(rank int, rounds []*round)   // when calls have begun together
	again     func(times int, c *colltest.Call) // when a persistent call is over
	color     func(color int) int               // the color that a communicator takes
	key       func(key int) int                 // the key that a communicator takes
	tag       func(tag int) int                 // the tag by which messages match
	eager     bool                              // a call that is started waits for the other ranks
	fifo      bool                              // whoever waits gets the call that has begun first
	oneRoom   bool                              // communicators with the same ranks share the numbers of calls
	anyRoot   bool                              // a root that is no rank is another one
	anyCounts bool                              // counts are not compared
	handles   int                               // so many calls can be waited for; 0: any number

	countsRefused bool // one rank counts a call that all refuse
	losesErrors   bool // a started call returns no error
	cachesStarts  bool // a persistent call has the displacements of the first one with its counts
	untagged      bool // a persistent message has no tag
	batchTag      bool // messages of a batch have the tag of the first one
	dropsOnSplit  bool // making a communicator drops the messages of others that were not received
	dropsOnFree   bool // freeing a communicator does
	mailboxes     int  // messages with a tag match on communicators whose numbers are alike modulo that; 0: on one
	onePlan       bool // a persistent call is the one prepared last
	reusesPlans   bool // the place of a persistent call is how many others are open
	closesAll     bool // closing a persistent call closes all of them
}

// planted is a fault, where it has to be seen, and what it has to be reduced to.
type planted struct {
	name      string
	primitive string
	fault     fault
	smallest  colltest.Case // its Size and, of one call, what is not 0
}

// smallest returns a case of one call, which has the fields that are named here.
func smallest(size int, s colltest.Step) colltest.Case {
	return colltest.Case{Size: size, Steps: []colltest.Step{s}}
}

// over returns what ends a rank's wait for others, without its result.
func (f *fault) over(c *colltest.Call) <-chan time.Time {
	if f.waits == nil {
		return nil
	}
	return time.After(f.waits(c))
}

func isPrime(n int) bool { return big.NewInt(int64(n)).ProbablyPrime(0) }

// last returns the last element of a buffer, nil if it has none.
func last(c *colltest.Call, b []byte) []byte { return b[max(0, len(b)-c.Type.Bytes()):] }

func flip(b []byte) {
	for i := range b {
		b[i] ^= 0xff
	}
}

var faults = []planted{
	{"a broadcast from rank 0 whatever the root", "Broadcast", fault{
		leave: func(rank, size int, c *colltest.Call) {
			if c.Root != 0 {
				flip(c.Out())
			}
		},
	}, smallest(2, colltest.Step{Root: 1, Count: 1})},
	{"the last element of the last block is not written", "AllGather", fault{
		leave: func(rank, size int, c *colltest.Call) { flip(last(c, c.Out())) },
	}, smallest(1, colltest.Step{Count: 1})},
	{"the last operand is left out", "AllReduce", fault{
		operands: func(_ int, _ *colltest.Call, x [][]byte) [][]byte { return x[:max(1, len(x)-1)] },
	}, smallest(2, colltest.Step{Count: 1})},
	{"an operand counts twice", "Reduce", fault{
		operands: func(_ int, _ *colltest.Call, x [][]byte) [][]byte { return append(x, x[len(x)-1]) },
		finish:   func(_ *colltest.Call, x []byte, _ int) []byte { return x },
	}, smallest(1, colltest.Step{Count: 1})},
	{"a byte behind the output is written", "AllToAll", fault{
		leave: func(_, _ int, c *colltest.Call) {
			if len(c.Out()) > 0 {
				c.Memory[c.OutAt+len(c.Out())]++
			}
		},
	}, smallest(1, colltest.Step{Count: 1})},
	{"a byte before the input is written", "Gather", fault{
		leave: func(_, _ int, c *colltest.Call) { c.Memory[c.InAt-1]++ },
	}, smallest(1, colltest.Step{})},
	{"the input is overwritten", "ReduceScatter", fault{
		leave: func(_, size int, c *colltest.Call) {
			if size > 1 && !c.InPlace {
				flip(last(c, c.In()))
			}
		},
	}, smallest(2, colltest.Step{Count: 1})},
	{"in place, other blocks of the input are overwritten", "ReduceScatter", fault{
		leave: func(rank, size int, c *colltest.Call) {
			if size > 1 && c.InPlace && rank == 0 {
				flip(last(c, c.In()))
			}
		},
	}, smallest(2, colltest.Step{Count: 1, InPlace: true})},
	{"wrong where the size is no power of two", "AllReduce", fault{
		leave: func(_, size int, c *colltest.Call) {
			if size&(size-1) != 0 {
				flip(last(c, c.Out()))
			}
		},
	}, smallest(3, colltest.Step{Count: 1})},
	{"wrong where the count is a prime above 3", "Scatter", fault{
		leave: func(_, _ int, c *colltest.Call) {
			if n := c.OutCounts[0]; n > 3 && isPrime(n) {
				flip(last(c, c.Out()))
			}
		},
	}, smallest(1, colltest.Step{Count: 5})},
	{"an error where there is nothing to do", "AllGather", fault{
		enter: func(_ context.Context, _, _ int, c *colltest.Call) error {
			if len(c.Out()) == 0 {
				return errors.New("no elements")
			}
			return nil
		},
	}, smallest(1, colltest.Step{})},
	{"wrong where counts differ", "AllGather", fault{
		leave: func(_, _ int, c *colltest.Call) {
			for _, n := range c.OutCounts {
				if n != c.OutCounts[0] {
					flip(last(c, c.Out()))
				}
			}
		},
	}, smallest(2, colltest.Step{Counts: [][]int{{0}, {1}}})},
	{"wrong in place", "AllToAll", fault{
		leave: func(_, _ int, c *colltest.Call) {
			if c.InPlace {
				flip(last(c, c.Out()))
			}
		},
	}, smallest(1, colltest.Step{Count: 1, InPlace: true})},
	{"a NaN is passed over", "AllReduce", fault{combine: onFloat32(spec.OpMax, func(x, y float32) float32 {
		if x > y || y != y {
			return x
		}
		return y
	})}, smallest(2, colltest.Step{Count: 1, Op: spec.OpMax, Type: spec.TypeFloat32})},
	{"-0 is lost", "Reduce", fault{combine: onFloat32(spec.OpSum, func(x, y float32) float32 {
		return 0 + (x + y)
	})}, smallest(2, colltest.Step{Count: 1, Op: spec.OpSum, Type: spec.TypeFloat32})},
	{"an integer saturates", "AllReduce", fault{combine: func(c *colltest.Call, x, y []byte) []byte {
		sum := arithmetics[c.Type].combine(c.Op, x, y)
		if c.Type == spec.TypeInt8 && c.Op == spec.OpSum {
			for i := range sum {
				sum[i] = byte(min(max(int(int8(x[i]))+int(int8(y[i])), math.MinInt8), math.MaxInt8))
			}
		}
		return sum
	}}, smallest(2, colltest.Step{Count: 1, Op: spec.OpSum, Type: spec.TypeInt8})},
	{"an average is multiplied by 1/n", "ReduceScatter", fault{finish: func(c *colltest.Call, x []byte, size int) []byte {
		if c.Op == spec.OpAvg && c.Type == spec.TypeInt8 && size > 1 {
			return make([]byte, len(x))
		}
		return arithmetics[c.Type].finish(c.Op, x, size)
	}}, smallest(2, colltest.Step{Count: 1, Op: spec.OpAvg, Type: spec.TypeInt8})},
	{"float64 is added as float32", "Reduce", fault{combine: func(c *colltest.Call, x, y []byte) []byte {
		sum := arithmetics[c.Type].combine(c.Op, x, y)
		if c.Type == spec.TypeFloat64 && c.Op == spec.OpSum {
			for i, z := range colltest.As[float64](sum) {
				colltest.As[float64](sum)[i] = float64(float32(z))
			}
		}
		return sum
	}}, smallest(2, colltest.Step{Count: 1, Op: spec.OpSum, Type: spec.TypeFloat64})},
	{"ranks add in different orders, out of place", "AllReduce", ownOrder(false),
		smallest(3, colltest.Step{Count: 1, Op: spec.OpSum, Type: spec.TypeFloat32})},
	{"ranks add in different orders, in place", "AllReduce", ownOrder(true),
		smallest(3, colltest.Step{Count: 1, Op: spec.OpSum, Type: spec.TypeFloat32, InPlace: true})},
	{"wrong off alignment", "Scatter", fault{leave: func(_, _ int, c *colltest.Call) {
		if c.OutAt%16 != 0 && len(c.Out()) >= 33*c.Type.Bytes() {
			flip(last(c, c.Out()))
		}
	}}, smallest(1, colltest.Step{Type: spec.TypeInt8, Count: 33})},
	{"wrong off alignment, with all buffers apart", "Broadcast", fault{leave: func(_, _ int, c *colltest.Call) {
		if c.OutAt%16 != 0 && !c.InPlace {
			flip(last(c, c.Out()))
		}
	}}, smallest(1, colltest.Step{Count: 1})},
	{"wrong where a block is longer than a thousand elements", "Broadcast", fault{leave: func(_, _ int, c *colltest.Call) {
		if len(c.Out()) > 1000*c.Type.Bytes() {
			flip(last(c, c.Out()))
		}
	}}, smallest(1, colltest.Step{Count: 1001})},
	{"the second call gives the result of the first", "Broadcast", secondCall(), colltest.Case{Size: 1}},
	{"a barrier that lets everybody pass", "Barrier", fault{early: true}, colltest.Case{Size: 2}},
	{"a panic", "Send", fault{enter: func(_ context.Context, rank, _ int, c *colltest.Call) error {
		if rank == 2 {
			panic("index out of range")
		}
		return nil
	}}, colltest.Case{Size: 3}},
	{"a hang that the context ends", "AllReduce",
		fault{enter: func(ctx context.Context, rank, size int, _ *colltest.Call) error {
			if size == 4 && rank == 1 {
				<-ctx.Done()
			}
			return ctx.Err()
		}}, smallest(4, colltest.Step{})},
	{"a hang that nothing ends", "Gather", fault{enter: func(_ context.Context, rank, size int, _ *colltest.Call) error {
		if size == 2 && rank == 1 {
			select {}
		}
		return nil
	}}, smallest(2, colltest.Step{})},
}

func bytesOf(x [][]byte) [][]byte { return append([][]byte(nil), x...) }

// onFloat32 has op on float32 be f, and leaves the rest right.
func onFloat32(op spec.Op, f func(x, y float32) float32) func(*colltest.Call, []byte, []byte) []byte {
	return func(c *colltest.Call, x, y []byte) []byte {
		result := arithmetics[c.Type].combine(c.Op, x, y)
		if c.Op == op && c.Type == spec.TypeFloat32 {
			a, b := colltest.As[float32](aligned(x)), colltest.As[float32](aligned(y))
			for i := range a {
				colltest.As[float32](result)[i] = f(a[i], b[i])
			}
		}
		return result
	}
}

// ownOrder has every rank begin a sum with another operand, in calls in place or in the others: each result is right by
// itself.
func ownOrder(inPlace bool) fault {
	return fault{operands: func(rank int, c *colltest.Call, x [][]byte) [][]byte {
		if c.Op == spec.OpSum && c.Type == spec.TypeFloat32 && c.InPlace == inPlace {
			x = append(bytesOf(x[rank%len(x):]), x[:rank%len(x)]...)
		}
		return x
	}}
}

// secondCall has a state that lives longer than a call: what the first call has put there, the second one takes for its
// own.
func secondCall() fault {
	var stale []byte
	return fault{leave: func(rank, size int, c *colltest.Call) {
		if size > 1 {
			return
		}
		if stale == nil {
			stale = bytes.Clone(c.Out())
		} else {
			copy(c.Out(), stale)
			stale = nil
		}
	}}
}
