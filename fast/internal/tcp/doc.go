// Package tcp carries messages between ranks over TCP connections, one for each pair of ranks that has something to say
// to each other, which others make and authenticate.
//
// A rank drives its sockets itself, in the goroutine that calls Exchange: it looks at them for a while, and then sleeps
// in Go's network poller. What is to be reduced is reduced straight out of the receive buffer, while the rest of the
// message is in flight; other long messages are received where they belong.
//
// A link carries frames: segments of messages; the call of the messages that follow; what its rank waits for in vain;
// a refusal of a message that does not match; and a last word, without which the end of a link counts as the death of
// its rank. A link with keys is encrypted, record by record.
//
// An Endpoint has a socket for each peer that it has exchanged something with, and 64 KiB for what comes on it, twice
// that and more if it is encrypted; one more descriptor as soon as there is a link; and no goroutine, apart from the
// one that after Close lets go out what was sent, for two seconds at most.
//
// The transport does not watch other ranks: who is dead, it is told by Fail.
package tcp
