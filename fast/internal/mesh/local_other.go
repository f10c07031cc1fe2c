//go:build !linux

package mesh

import (
	"context"
	"errors"
	"net"
)

// Abstract unix sockets are Linux's. Elsewhere processes of one host talk TCP as well.

func (m *Mesh) listenLocal() (name string) { return "" }

func dialLocal(context.Context, string) (net.Conn, error) {
	return nil, errors.New("there are no abstract unix sockets on this system")
}

var errNoPairs = errors.New("processes are introduced to each other on Linux alone")

func socketPair() ([2]int, error) { return [2]int{}, errNoPairs }

func pairRoom() int { return 0 }

func pidNamespace() uint64 { return 0 }

func introducedTo(int) (*fdConn, error) { return nil, errNoPairs }

func unnamed(*net.UnixConn) {}

func impatient(*net.TCPConn, int) {}
