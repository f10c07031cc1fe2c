// Package object has collectives of Go values: structs, strings, maps and whatever else encoding/gob or another codec
// can encode. They are for what is small or rare, such as configurations, statistics and results. Numbers in slices go
// faster by package fast.
//
//	all, err := object.AllGather(ctx, c, result) // all[r] is the result of rank r
//
// Every rank gets copies, its own value included. A call is three calls of package fast: of the lengths, of whether all
// ranks are ready, and of the bytes. Ranks compare the operation and the root, as in other calls; for values of
// different types, decoding fails. A failure of one of the three is an error as package fast has it.
//
// Three more errors leave the communicator as it was, so that calls can go on. All ranks get ErrEncode or ErrTooLarge,
// before any value is sent; a fast.PeerError in it, or the text if it is this rank, names the rank at fault. ErrDecode
// is the error only of the rank that cannot decode; a fast.PeerError in it names the sender.
//
// What comes from a rank is not trusted: it is at most as long as WithLimit allows, and no byte may be left over. But
// gob takes types that contain themselves at any depth, so a hostile value of such a type can exhaust the stack. Where
// ranks do not trust each other, use other types, or a codec that has a limit.
package object

import (
	"errors"

	"github.com/collgen/collgen/fast/internal/wire"
)

// The errors of a call that leave the communicator as it was, to be told apart with errors.Is.
var (
	// ErrEncode: a rank could not encode its value.
	ErrEncode = errors.New("a value cannot be encoded")
	// ErrDecode: what a rank has sent is not an encoded value of the type.
	ErrDecode = errors.New("what was received cannot be decoded")
	// ErrTooLarge: a rank would have received more bytes than its limit.
	ErrTooLarge = errors.New("the values are larger than the limit")
)

// Option changes how one call is made. All ranks pass the same codec.
type Option func(*config)

// config is what options say.
type config struct {
	limit     int
	marshal   func(v any) ([]byte, error)
	unmarshal func(data []byte, v any) error
	own       bool // WithCodec was given
}

// DefaultLimit is the limit of a call without WithLimit, in bytes: 1 GiB.
const DefaultLimit = 1 << 30

// WithLimit sets how many bytes of encoded values this rank takes in one call, in all, its own included. If there are
// more, the call fails on all ranks with ErrTooLarge. Ranks may have different limits.
func WithLimit(bytes int) Option { return func(o *config) { o.limit = bytes } }

// WithCodec has values encoded by marshal, which gets a T, and decoded by unmarshal, which gets a *T that is zero. The
// functions of package encoding/json will do:
//
//	object.WithCodec(json.Marshal, json.Unmarshal)
//
// Unmarshal gets bytes of other ranks, and may keep them.
func WithCodec(marshal func(v any) ([]byte, error), unmarshal func(data []byte, v any) error) Option {
	return func(o *config) { o.marshal, o.unmarshal, o.own = marshal, unmarshal, true }
}

// newConfig returns what the options of a call of that name say.
func newConfig(name string, opts []Option) (config, error) {
	o := config{limit: DefaultLimit}
	for _, set := range opts {
		if set == nil {
			return o, wire.Refuse(name, "an option is nil")
		}
		set(&o)
	}
	switch {
	case o.limit < 0:
		return o, wire.Refuse(name, "a limit of %d bytes", o.limit)
	case o.own && (o.marshal == nil || o.unmarshal == nil):
		return o, wire.Refuse(name, "a function of the codec is nil")
	}
	return o, nil
}
