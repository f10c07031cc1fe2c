package wire

import (
	"crypto/cipher"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
)

// Topic identifies what a control message is about. Only a receiver of the same topic gets it.
type Topic struct {
	Comm uint64 // of the communicator; 0: of the job
	Kind uint8  // what it is about; the kinds are those of the package that sends
	Seq  uint32 // which of several, of one kind
}

// MaxNote is the most bytes of a control message. Long messages of programs are sent as many of that length.
const MaxNote = 128 << 10

// Note is a received control message.
type Note struct {
	Topic Topic
	From  int // the process that sent it, by its number in the job
	Body  []byte
	Files []int // descriptors, the receiver's to close; only from a process on the same host
	Lost  bool  // there were files, but this process had too many open to take them; there are none then
}

// longBody is how many bytes a body has at least whose memory is used again: most of MaxNote, which it takes.
const longBody = MaxNote / 4 * 3

// bodies has the memory of bodies that nobody needs any more.
var bodies = sync.Pool{New: func() any { return new([MaxNote]byte) }}

// NewBody returns memory for a body of n bytes, at most MaxNote. What is in it does not count.
func NewBody(n int) []byte {
	if n < longBody {
		return make([]byte, n)
	}
	return bodies.Get().(*[MaxNote]byte)[:n]
}

// CopyBody returns a copy of a body, in memory that NewBody makes.
func CopyBody(body []byte) []byte {
	b := NewBody(len(body))
	copy(b, body)
	return b
}

// Recycle has the memory of a body used again that NewBody has made. Nobody may use the body after that.
func Recycle(body []byte) {
	if cap(body) == MaxNote && len(body) >= longBody {
		bodies.Put((*[MaxNote]byte)(body[:MaxNote]))
	}
}

// CloseFiles closes the files, for a receiver that does not need them.
func (n Note) CloseFiles() {
	for _, fd := range n.Files {
		_ = os.NewFile(uintptr(fd), "").Close()
	}
}

// Conn is an authenticated connection to another process, for data. Seal and Open, if not nil, encrypt what is sent and
// decrypt what is received. Each connection and direction has its own keys.
type Conn struct {
	*net.TCPConn
	Seal, Open cipher.AEAD
}

// Format writes the connection's addresses for any verb. It omits the ciphers, which contain the keys.
func (c Conn) Format(f fmt.State, _ rune) {
	if c.TCPConn == nil {
		_, _ = io.WriteString(f, "no connection")
		return
	}
	_, _ = fmt.Fprintf(f, "connection from %v to %v", c.LocalAddr(), c.RemoteAddr())
}
