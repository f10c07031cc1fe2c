//go:build !linux

package fast

import (
	"context"
	"errors"

	"github.com/collgen/collgen/fast/internal/transport"
)

// canShare: memory is shared between processes on Linux alone.
const canShare = false

func share(context.Context, *founding) (transport.Transport, error) {
	return nil, errors.ErrUnsupported
}
