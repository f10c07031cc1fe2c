// Package linkproto is what the two ranks of a link tell each other besides the bytes of their messages: the calls that
// these belong to, which calls a rank has begun, what it waits for in vain, that a message does not match, and a last
// word. Transports whose links carry frames share it, so that ranks whose calls disagree find out in the same way over
// all of them.
package linkproto
