package device

import (
	"fmt"

	"github.com/collgen/collgen/fast/internal/verbs"
)

// bounded returns the smaller one of m and so many bytes; 0 is no bound.
func bounded(m verbs.MTU, bytes int) (verbs.MTU, error) {
	if bytes == 0 {
		return m, nil
	}
	for other := verbs.MTU(1); other <= 5; other++ {
		if other.Bytes() == bytes {
			return min(m, other), nil
		}
	}
	return 0, fmt.Errorf("no packet of RDMA carries %d bytes, but 256, 512, 1024, 2048 or 4096", bytes)
}
