//go:build !linux

package setup

import (
	"context"
	"errors"

	"github.com/collgen/collgen/fast/internal/transport"
)

// CanShare: memory is shared between processes on Linux alone.
const CanShare = false

func share(context.Context, *Group) (transport.Transport, error) {
	return nil, errors.ErrUnsupported
}
