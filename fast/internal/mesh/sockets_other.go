//go:build !linux

package mesh

import (
	"errors"
	"net"
	"sync/atomic"
)

// Only Linux has abstract unix sockets, which ranks of one host need to share memory. Elsewhere they use TCP.
const abstractSockets = false

var errNoFiles = errors.New("files are passed between processes only on Linux")

func writeFiles(socket, []byte, []int) (int, error) { return 0, errNoFiles }

func send(int, []int, ...[]byte) (int, error) { return 0, errNoFiles }

func receive(int, []byte) (int, parcel, error) { return 0, parcel{}, errNoFiles }

func readFiles(c socket, b []byte, _ *atomic.Bool) (int, parcel, error) {
	n, err := c.Read(b)
	return n, parcel{}, err
}

func copyFiles([]int) ([]int, error) { return nil, errNoFiles }

func closeFiles([]int) {}

var errNoPairs = errors.New("processes are introduced to each other only on Linux")

func socketPair() ([2]int, error) { return [2]int{}, errNoPairs }

func maxSocketEnds() int { return 0 }

func pidNamespace() uint64 { return 0 }

func stopCredentials(int) {}

func checkSocketEnd(int) error { return errNoPairs }

func setSendBuffer(int, int) {}

func setUserTimeout(*net.TCPConn, int) {}

func socketPeer(*net.UnixConn) (pid, user int, err error) { return 0, 0, errNoPairs }

// acknowledged does not tell on this system.
func acknowledged(*net.TCPConn) uint64 { return 0 }
