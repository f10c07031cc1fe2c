package main

import (
	"context"
	"unsafe"

	"github.com/collgen/collgen/fast"
	"github.com/collgen/collgen/fast/message"
	"github.com/collgen/collgen/spec"
)

// posted is a message of a C program that is sent or received, as a started call.
type posted struct{ *message.Handle }

// Over reports whether the call is over.
func (p posted) Over() bool {
	over, _ := p.Test()
	return over
}

// Err returns the error of a call that is over.
func (p posted) Err() error {
	_, err := p.Test()
	return err
}

// OnOver has f called with the call's error when the call is over, or at once if it is.
func (p posted) OnOver(f func(err error)) {
	if over, err := p.Test(); over {
		f(err)
		return
	}
	go func() {
		<-p.Done()
		f(p.Err())
	}()
}

// letter is a message of a C program that is yet to be sent or received.
type letter struct {
	buf       []byte
	peer, tag int
	receives  bool
}

// posts begin calls by the types of their elements.
var posts = map[spec.Type]func(ctx context.Context, c *fast.Comm, l *letter, opts []fast.Option) *message.Handle{
	spec.TypeInt8:       post[int8],
	spec.TypeInt16:      post[int16],
	spec.TypeInt32:      post[int32],
	spec.TypeInt64:      post[int64],
	spec.TypeUint8:      post[uint8],
	spec.TypeUint16:     post[uint16],
	spec.TypeUint32:     post[uint32],
	spec.TypeUint64:     post[uint64],
	spec.TypeFloat16:    post[fast.Float16],
	spec.TypeBFloat16:   post[fast.BFloat16],
	spec.TypeFloat32:    post[float32],
	spec.TypeFloat64:    post[float64],
	spec.TypeComplex64:  post[complex64],
	spec.TypeComplex128: post[complex128],
	spec.TypeBool:       post[bool],
	spec.TypeFloat8E4M3: post[fast.Float8E4M3],
	spec.TypeFloat8E5M2: post[fast.Float8E5M2],
}

func post[T fast.Elem](ctx context.Context, c *fast.Comm, l *letter, opts []fast.Option) *message.Handle {
	buf := unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(l.buf))), len(l.buf)/int(unsafe.Sizeof(*new(T))))
	if l.receives {
		return message.StartRecv(ctx, c, buf, l.peer, l.tag, opts...)
	}
	return message.StartSend(ctx, c, buf, l.peer, l.tag, opts...)
}
