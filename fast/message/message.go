// Package message has point-to-point messages with tags, as programs for MPI and torch know them: a receiver takes them
// by source and tag, from any source or with any tag, and may ask what has come.
//
//	err := message.Send(ctx, c, work, 1, tagWork)
//	got, err := message.Recv(ctx, c, buf, message.AnySource, message.AnyTag)
//	fmt.Println(got.Source, got.Tag, got.Count)
//
// Any number of goroutines may make these calls at the same time, also while other calls run on the same communicator.
// A rank may send to itself. Options other than fast.WithLabel are refused; labels are not compared.
//
// # Matching
//
// A receive takes the first message that has come and that it matches. If there is none, it waits for one. A message
// goes to the receive that was posted first of those that it matches. Messages of one sender with the same tag do not
// overtake each other.
//
// The receiver's element type has to be that of the sender. If it is not, Recv fails with a fast.MismatchError, in
// which the call's number says which message of its sender it was. A message may be shorter than the buffer; Status has
// its length. If it is longer, Recv fails with ErrTruncated. In both cases the message is consumed, the buffer is as it
// was, and the sender does not learn of it.
//
// # When Send returns
//
// Messages of up to 8 KiB are copied, and Send returns at once, as long as no more than 48 KiB of them to the same rank
// were not received, as far as this one knows, and on all communicators of the two processes together 768 KiB. Each
// counts for 128 bytes besides its own. Any other message is announced. Then Send returns when a receive has taken it,
// with all of its bytes. Between processes that share memory, the receiver reads those of more than 8 KiB in the
// sender's memory, unless fast.WithoutCMA or the system keeps it from that. At most 16,384 messages to a rank may be
// announced and not matched. The others wait in the sender, in their order, even if a receive would match one of them.
// Thus what a rank holds for another one is bounded: so many announced messages take 12 MB of it.
//
// # Errors
//
// They are those of package fast, in a fast.CallError without a number. A call whose context ends fails with a
// fast.TimeoutError that names the ranks it has waited for. If it was a Send of an announced message that a receive has
// matched, or a Recv whose bytes were on their way, the call of the other rank fails too: with a fast.PeerError that
// has the TimeoutError in it. If all bytes have come by then, the Recv has succeeded, and the Send may fail all the
// same. All others go on, and the communicator is as before.
//
// When a rank has closed the communicator, what it has sent can still be received, except for announced messages. Other
// calls that need it get a fast.PeerError with fast.ErrClosed. A call with AnySource does when all other ranks have
// closed. When a rank dies, or the communicator is given up for another reason, all calls fail, as those of package
// fast do. Close does not wait for calls that StartSend and StartRecv have started.
//
// # What is checked, and what is not
//
// Nothing here is proved, unlike the collectives of package fast: it is tested. What comes from another rank is checked
// before it is used, so a rank that lies can neither write beyond a buffer nor have another one keep more than the
// above, besides what that one has not looked at yet. Messages go over the control plane, beside the data path. That is
// slower than fast.Send; go test -bench PingPong ./fast/message measures both.
//
// That ranks wait for each other in these calls is no deadlock for certain, because another goroutine of one of them
// may still send what is missing. So the search for deadlocks leaves them out, and they wait until their contexts end.
// A warning names the ranks that a call waits for, after the time of fast.WithSlowCall, also if bytes come; of a
// started call, while Handle.Wait waits for it. Comm.Health shows calls that wait.
package message

import (
	"context"

	"github.com/collgen/collgen/fast"
	"github.com/collgen/collgen/fast/internal/exec"
	engine "github.com/collgen/collgen/fast/internal/message"
	"github.com/collgen/collgen/fast/internal/wire"
	"github.com/collgen/collgen/spec"
)

// What a receive or a probe takes in place of a source or a tag.
const (
	AnySource = engine.Any // messages of every rank, this one included
	AnyTag    = engine.Any // messages with every tag
)

// MaxTag is the largest tag. The smallest is 0.
const MaxTag = engine.MaxTag

// Status is the message that was received or found: its source, its tag, and how many elements it has.
//
//	type Status struct {
//		Source, Tag int
//		Count       int
//	}
type Status = engine.Status

// ErrTruncated says that a message was longer than the buffer of its receive. The text has both lengths.
var ErrTruncated = engine.ErrTruncated

// Send sends buf to the rank to, with a tag. It returns when buf may be used again: the package's documentation says
// when that is.
func Send[T fast.Elem](ctx context.Context, c *fast.Comm, buf []T, to, tag int, opts ...fast.Option) error {
	o, err := sending(ctx, c, "message.Send", buf, to, tag, opts)
	if err != nil {
		return err
	}
	_, err = o.wait(ctx, true)
	return err
}

// Recv receives a message of the rank from, or AnySource, with a tag, or AnyTag, into buf. It returns which one it was;
// also with ErrTruncated and a fast.MismatchError, after which buf is as it was. After another error, what the message
// would have filled may have been written to.
func Recv[T fast.Elem](ctx context.Context, c *fast.Comm, buf []T, from, tag int, opts ...fast.Option) (Status,
	error) {
	o, err := receiving(ctx, c, "message.Recv", buf, from, tag, opts)
	if err != nil {
		return Status{}, err
	}
	return o.wait(ctx, true)
}

// Probe waits until there is a message for a Recv with these arguments, and returns which one that is. The message
// stays, until a receive takes it, of another goroutine perhaps, or its sender gives it up. Count is what the sender
// says, and there is no limit to that.
func Probe(ctx context.Context, c *fast.Comm, from, tag int, opts ...fast.Option) (Status, error) {
	r := engine.Request{Name: "message.Probe", Peer: from, Tag: tag}
	e, err := prepare(ctx, c, &r, true, opts)
	if err != nil {
		return Status{}, err
	}
	return call{c, r, e.Probe(&r)}.wait(ctx, true)
}

// TryProbe is Probe, but does not wait: it reports whether there is such a message now. It fails if there is none, and
// none can come any more.
func TryProbe(c *fast.Comm, from, tag int) (status Status, found bool, err error) {
	r := engine.Request{Name: "message.TryProbe", Peer: from, Tag: tag}
	e, err := prepare(context.Background(), c, &r, true, nil)
	if err != nil {
		return Status{}, false, err
	}
	if status, found, err = e.Find(from, tag); err != nil {
		err = engine.Runtime.Fail(c, &r, err)
	}
	return status, found, err
}

// call is one that has begun.
type call struct {
	c  *fast.Comm
	r  engine.Request
	op *engine.Op
}

// wait waits until o is over, and returns its result. If it warns, a warning says that this takes long.
func (o call) wait(ctx context.Context, warns bool) (Status, error) {
	stop := func() {}
	if warns && !o.op.Over() {
		ctx, stop = engine.Runtime.Watch(ctx, o.c, o.r.Name)
	}
	status, err := o.op.Wait(ctx, engine.Runtime.Ended(o.c))
	stop()
	if err != nil {
		err = engine.Runtime.Fail(o.c, &o.r, err)
	}
	return status, err
}

func sending[T fast.Elem](ctx context.Context, c *fast.Comm, name string, buf []T, to, tag int,
	opts []fast.Option) (call, error) {
	r := engine.Request{Name: name, Peer: to, Tag: tag, Type: spec.TypeOf[T](), Buf: exec.Bytes(buf)}
	e, err := prepare(ctx, c, &r, false, opts)
	if err != nil {
		return call{}, err
	}
	return call{c, r, e.Send(&r)}, nil
}

func receiving[T fast.Elem](ctx context.Context, c *fast.Comm, name string, buf []T, from, tag int,
	opts []fast.Option) (call, error) {
	r := engine.Request{Name: name, Peer: from, Tag: tag, Type: spec.TypeOf[T](), Buf: exec.Bytes(buf)}
	e, err := prepare(ctx, c, &r, true, opts)
	if err != nil {
		return call{}, err
	}
	return call{c, r, e.Receive(&r)}, nil
}

// prepare checks the arguments of a call, of which peer and tag may be Any if wild, and returns the engine of c.
func prepare(ctx context.Context, c *fast.Comm, r *engine.Request, wild bool, opts []fast.Option) (*engine.Engine,
	error) {
	e, err := engine.Runtime.Engine(ctx, c, r.Name)
	if err != nil {
		return nil, err
	}
	if r.Label, err = exec.OnlyLabel(r.Name, opts); err != nil {
		return nil, err
	}
	switch {
	case wild && r.Peer == AnySource:
	case r.Peer < 0 || r.Peer >= c.Size():
		return nil, wire.Refuse(r.Name, "rank %d of %d", r.Peer, c.Size())
	}
	if (r.Tag < 0 || r.Tag > MaxTag) && !(wild && r.Tag == AnyTag) {
		return nil, wire.Refuse(r.Name, "the tag %d is not between 0 and %d", r.Tag, MaxTag)
	}
	return e, nil
}
