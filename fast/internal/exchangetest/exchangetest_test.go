package exchangetest_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/collgen/collgen/fast/internal/exchangetest"
	"github.com/collgen/collgen/fast/internal/inproc"
	"github.com/collgen/collgen/fast/internal/wire"
)

// faultVar names the fault of the transports in a process of its own.
const faultVar = "COLLGEN_EXCHANGETEST_FAULT"

// TestTransport runs the suite over transports that are as they should be, or have a fault.
func TestTransport(t *testing.T) {
	f := faults[os.Getenv(faultVar)]
	if f.fails != "" {
		exchangetest.Hurry()
	}
	exchangetest.Run(t, func(t *testing.T, size int) []exchangetest.Transport {
		var all []exchangetest.Transport
		for _, e := range inproc.New(size) {
			all = append(all, faulty{e, f})
		}
		return all
	})
}

// TestFaults plants one fault after the other, and has the test fail that is to see it.
func TestFaults(t *testing.T) {
	for name, f := range faults {
		if f.fails == "" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := exec.Command(os.Args[0], "-test.run=^TestTransport$/^"+f.fails+"$", "-rapid.nofailfile", "-rapid.shrinktime=1s")
			c.Env = append(os.Environ(), faultVar+"="+name)
			out, err := c.CombinedOutput()
			if err == nil || !strings.Contains(string(out), "--- FAIL: TestTransport/"+strings.ReplaceAll(f.fails, " ", "_")) {
				t.Errorf("%s is not seen: %v\n%s", name, err, out)
			}
		})
	}
}

// fault is what is wrong with a transport: what it does instead of what it should, where that is not nil. The test of
// the name fails sees it.
type fault struct {
	fails    string
	begin    func(*wire.Call) *wire.Call
	before   func([]wire.Send, []wire.Recv)
	after    func([]wire.Recv, error) error
	fail     func(exchangetest.Transport, error)
	close    func(exchangetest.Transport) error
	post     func([]wire.Send, []wire.Recv)
	nobodyIs bool                                                // waited for
	parts    func(sends []wire.Send, recvs []wire.Recv) [][2]int // Exchanges, by the number of sends and receives, for one
}

var faults = map[string]fault{
	"": {},
	"operands in one order": {fails: "reduce", before: func(_ []wire.Send, recvs []wire.Recv) {
		for i := range recvs {
			recvs[i].ReceivedFirst = false
		}
	}},
	"a wrong byte":           {fails: "lengths", after: lastBytes(0)},
	"a byte too many":        {fails: "exchange", after: lastBytes(1)},
	"calls are not compared": {fails: "mismatch", begin: func(*wire.Call) *wire.Call { return new(wire.Call) }},
	"no calls of messages": {fails: "mismatch of one message", before: func(sends []wire.Send, recvs []wire.Recv) {
		for i := range sends {
			sends[i].Call = nil
		}
		for i := range recvs {
			recvs[i].Call = nil
		}
	}},
	"overwrites what is not sent": {fails: "after send", before: func(_ []wire.Send, recvs []wire.Recv) {
		for i := range recvs {
			if recvs[i].AfterSend && len(recvs[i].Into) > 0 {
				recvs[i].Into[0] ^= 1
			}
		}
	}},
	"sends all before it receives": {fails: "after send", parts: func(sends []wire.Send, recvs []wire.Recv) [][2]int {
		return [][2]int{{len(sends), 0}, {0, len(recvs)}}
	}},
	"one rank after the other": {fails: "apart", parts: func(sends []wire.Send, recvs []wire.Recv) (parts [][2]int) {
		for range sends {
			parts = append(parts, [2]int{1, 1})
		}
		return parts
	}},
	"takes back what is lent": {fails: "lend", after: func(recvs []wire.Recv, err error) error {
		for i := range recvs {
			if r := &recvs[i]; r.Lend && len(r.Into) > 0 {
				r.Into = bytes.Clone(r.Into)
				into := r.Into
				time.AfterFunc(50*time.Microsecond, func() { into[0] ^= 1 })
			}
		}
		return err
	}},
	"writes one rank what is another's": {fails: "same memory", before: func(sends []wire.Send, _ []wire.Recv) {
		if len(sends) == 3 && len(sends[1].Data) > 0 {
			sends[1].Data[0] ^= 1
		}
	}},
	"timeouts without ranks": {fails: "timeout", after: func(_ []wire.Recv, err error) error {
		if timeout := (*wire.TimeoutError)(nil); errors.As(err, &timeout) {
			timeout.Waiting = nil
		}
		return err
	}},
	"is over before it has come": {fails: "posted", post: func(_ []wire.Send, recvs []wire.Recv) {
		for i := range recvs {
			recvs[i].Over = true
		}
	}},
	"waits for nobody": {fails: "waiting", nobodyIs: true},
	"is not told":      {fails: "fail", fail: func(exchangetest.Transport, error) {}},
	"does not leave": {fails: "close", close: func(e exchangetest.Transport) error {
		e.Fail(wire.ErrClosed)
		return nil
	}},
	"writes after the end": {fails: "ends", after: func(recvs []wire.Recv, err error) error {
		for _, r := range recvs {
			if into := r.Into; err != nil && len(into) > 0 {
				time.AfterFunc(500*time.Microsecond, func() { into[len(into)/2] ^= 1 })
			}
		}
		return err
	}},
	"leaves goroutines": {fails: "ends", after: func(_ []wire.Recv, err error) error {
		if err != nil {
			go func() { select {} }()
		}
		return err
	}},
	"allocates": {fails: "allocations", after: func(_ []wire.Recv, err error) error {
		sink = make([]byte, 8)
		return err
	}},
}

var sink []byte

// lastBytes changes the last byte of each message, or one beyond it.
func lastBytes(beyond int) func([]wire.Recv, error) error {
	return func(recvs []wire.Recv, err error) error {
		for _, r := range recvs {
			if n := len(r.Into) + beyond; n > 0 && n <= cap(r.Into) {
				r.Into[:n][n-1] ^= 1
			}
		}
		return err
	}
}

// faulty is a transport with a fault.
type faulty struct {
	exchangetest.Transport
	fault
}

func (f faulty) Begin(call wire.Mark) {
	if f.begin != nil {
		call = wire.NewMark(f.begin(call.Call))
	}
	f.Transport.Begin(call)
}

func (f faulty) Post(sends []wire.Send, recvs []wire.Recv) error {
	if f.post != nil {
		defer f.post(sends, recvs)
	}
	return f.Transport.Post(sends, recvs)
}

func (f faulty) Exchange(ctx context.Context, sends []wire.Send, recvs []wire.Recv) error {
	if f.before != nil {
		f.before(sends, recvs)
	}
	err := f.exchange(ctx, sends, recvs)
	if f.after != nil {
		err = f.after(recvs, err)
	}
	return err
}

func (f faulty) exchange(ctx context.Context, sends []wire.Send, recvs []wire.Recv) (err error) {
	if f.parts == nil {
		return f.Transport.Exchange(ctx, sends, recvs)
	}
	for _, n := range f.parts(sends, recvs) {
		if err == nil {
			err = f.Transport.Exchange(ctx, sends[:n[0]], recvs[:n[1]])
			sends, recvs = sends[n[0]:], recvs[n[1]:]
		}
	}
	return err
}

func (f faulty) Waiting() []int {
	if f.nobodyIs {
		return nil
	}
	return f.Transport.Waiting()
}

func (f faulty) Fail(err error) {
	if f.fail != nil {
		f.fail(f.Transport, err)
		return
	}
	f.Transport.Fail(err)
}

func (f faulty) Close() error {
	if f.close != nil {
		return f.close(f.Transport)
	}
	return f.Transport.Close()
}
