package linkproto

import (
	"errors"
	"fmt"
	"testing"

	"github.com/collgen/collgen/fast/internal/wire"
)

// broadcast is collective number seq, from that root. Calls of one number disagree if their roots do.
func broadcast(seq uint64, root uint32) wire.Call {
	return wire.Call{Seq: seq, Primitive: 1, Count: 4, Root: root}
}

// The calls of TestDisagreement: the one that this rank is in, what the other one may have made in its place, and
// another one.
var (
	mine     = broadcast(7, 0)
	same     = broadcast(7, 0)
	differs  = broadcast(7, 1)
	nextCall = broadcast(8, 0)
)

// turn returns that of message number 3 of mine, if there is one.
func turn(is bool) (t Turn) {
	if is {
		t = Turn{N: 3, Call: &mine, Fingerprint: mine.Fingerprint()}
	}
	return t
}

// note has p take note that the other rank waits in vain for message n in c.
func note(t *testing.T, p *Partner, sends bool, n uint64, c wire.Call) {
	t.Helper()
	frame := (&waiting{sends, n, c}).append(nil, c.Fingerprint())
	h, err := ParseHeader(frame)
	if err := errors.Join(err, p.HandleReport(h, frame[HeaderBytes:])); err != nil {
		t.Fatal(err)
	}
}

// TestDisagreement: a rank that waits in vain for another one, which says that it is stuck in sending to this one or in
// receiving from it, disagrees with that call if neither of them can go on. Who both sends and receives may still do
// what the other one waits for.
func TestDisagreement(t *testing.T) {
	for _, send := range []bool{false, true} {
		for _, recv := range []bool{false, true} {
			for _, theySend := range []bool{false, true} {
				for _, n := range []uint64{3, 2} { // the message in question, or one before
					for name, theirs := range map[string]wire.Call{"the same call": same, "another call": differs,
						"the next call": nextCall} {
						var own History
						own.Begin(&mine)
						p := &Partner{Rank: 1}
						note(t, p, theySend, n, theirs)
						err := p.FindDisagreement(&own, turn(send), turn(recv), 3, 3)
						ends := n == 3 && theirs != same && (theySend && send && !recv || !theySend && recv && !send)
						wantMismatch(t, fmt.Sprintf("sends %v, receives %v, the other one sends %v, message %d, %s", send, recv, theySend,
							n, name),
							p, err, ends)
						if n := testing.AllocsPerRun(1, func() {
							_ = p.FindDisagreement(&own, turn(send), turn(recv), 3,
								3)
						}); theirs == same && n != 0 {
							t.Errorf("%v allocations of a rank that waits", n)
						}
					}
				}
			}
		}
	}
}

// TestToldDisagreement: what the other rank has begun in the place of this rank's call is compared with it, stuck or
// not, and so it is when no message is waited for, by FindContradiction.
func TestToldDisagreement(t *testing.T) {
	for name, theirs := range map[string]wire.Call{"the same call": same, "another call": differs,
		"the next call": nextCall} {
		for _, kind := range []uint8{Call, Past} {
			for _, direction := range []string{"sends", "receives", "both", "nothing"} {
				var own History
				own.Begin(&mine)
				p := &Partner{Rank: 1}
				h, body := Header{kind, CallBytes, theirs.Fingerprint()}, AppendCall(nil, &theirs)
				err := p.HandleReport
				if kind == Call {
					err = p.SetCall
				}
				if err := err(h, body); err != nil {
					t.Fatal(err)
				}
				what := fmt.Sprintf("kind %d, %s, %s", kind, direction, name)
				waits := direction != "nothing"
				wantMismatch(t, what, p, p.FindDisagreement(&own, turn(waits && direction != "receives"),
					turn(waits && direction != "sends"), 3, 3),
					waits && theirs == differs)
				p.Refusal = nil
				wantMismatch(t, what+", Contradiction", p, p.FindContradiction(&own), theirs == differs)
			}
		}
	}
}

// wantMismatch checks that err is a mismatch with rank 1, of which the other rank is to learn, or nil.
func wantMismatch(t *testing.T, what string, p *Partner, err error, want bool) {
	t.Helper()
	var mismatch *wire.MismatchError
	if is := errors.As(err, &mismatch) && mismatch.Rank == 1; is != want || !want && err != nil ||
		(p.Refusal != nil) != want {
		t.Errorf("%s: %v, and a refusal of %d bytes", what, err, len(p.Refusal))
	}
}
