//go:build unix && !aix && !solaris

package doctor

import (
	"context"
	"strings"
	"time"

	"github.com/collgen/collgen/fast"
)

// checkRDMA tries these devices as a rank would, and returns the usable ports with their settings.
func checkRDMA(devices string) (ports []string, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	return fast.CheckRDMA(ctx, devices)
}

// asksRDMA reports whether a rank looks for RDMA devices.
func asksRDMA(l *fast.Launch) bool {
	return l.Transport == "rdma" || l.Transport == "" && l.RDMA != "" && !l.Encrypt
}

// rdmaOf returns what a rank finds if it asks for RDMA.
func rdmaOf(l *fast.Launch, check func(devices string) ([]string, error)) Finding {
	ports, err := check(l.RDMA)
	f := Finding{Name: "rdma device", Value: ports, Text: strings.Join(ports, ", ")}
	if err != nil {
		f.Text, f.Warning, f.Fatal = "none", err.Error(), l.Transport == "rdma"
	}
	return f
}
