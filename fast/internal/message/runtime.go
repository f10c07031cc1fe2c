package message

import "context"

// Runtime is set by package fast, for package fast/message. Communicators are *fast.Comm.
var Runtime interface {
	// Engine returns that of c for a call of that name, or why the call cannot be made.
	Engine(ctx context.Context, c any, name string) (*Engine, error)
	// Ended returns a channel that is closed when c has ended.
	Ended(c any) <-chan struct{}
	// Watch has the logger warn of a call that waits for long, until stop. Its context is that of the wait.
	Watch(ctx context.Context, c any, name string) (watched context.Context, stop func())
	// Fail returns the error of a call that has ended with err.
	Fail(c any, r *Request, err error) error
}
