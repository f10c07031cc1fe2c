//go:build !linux

package fast

import (
	"context"
	"errors"
)

// canShare: memory is shared between processes on Linux alone.
const canShare = false

func share(context.Context, *founding) (transport, error) { return nil, errors.ErrUnsupported }
