// Package verbs is a binding of libibverbs, the interface of RDMA devices (InfiniBand, RoCE): what a transport with
// reliable connections needs of it, and nothing else.
//
// The library is loaded when the first device is asked for; a program that contains this package is not linked to it
// and runs where it is missing. Its structures are declared here, and compared with those of its header by a test.
// Without cgo, with the tag netgo, which asks for programs without C libraries, on systems other than Linux, without
// the library or without a device, Devices and Open say what is missing, by an error that is ErrUnavailable.
//
// A Context is an open device. What is made from it has to be closed, in any order: an object closes first those that
// were made with it. To make, connect and close takes up to a second each, and holds up nothing else of the context. A
// queue pair, and a completion queue, are used by one goroutine at a time, and never once they are closed; posting and
// polling allocate nothing.
package verbs
