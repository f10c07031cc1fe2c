//go:build cgo && linux && (amd64 || arm64)

package main

// #include "call.h"
import "C"

import "github.com/collgen/collgen/fast"

// defaultHealth is how long a report waits for the ranks if nothing is said.
const defaultHealth = int64(5e9)

//export goRevoke
func goRevoke(number C.collgen_comm, f *C.struct_collgen_failure) C.int {
	c, err := commOf(int64(number))
	if err == nil {
		err = c.Revoke()
	}
	return report(f, err)
}

//export goAgree
func goAgree(number C.collgen_comm, flags C.uint64_t, timeout C.int64_t, agreed *C.uint64_t,
	f *C.struct_collgen_failure) C.int {
	c, err := commOf(int64(number))
	if err == nil {
		ctx, stop := within(int64(timeout))
		defer stop()
		var all uint64
		all, err = c.Agree(ctx, uint64(flags))
		*agreed = C.uint64_t(all)
	}
	return report(f, err)
}

//export goMonitoredBarrier
func goMonitoredBarrier(number C.collgen_comm, timeout C.int64_t, f *C.struct_collgen_failure) C.int {
	c, err := commOf(int64(number))
	if err == nil {
		ctx, stop := within(int64(timeout))
		defer stop()
		err = fast.MonitoredBarrier(ctx, c.Comm)
	}
	return report(f, err)
}

//export goHealth
func goHealth(number C.collgen_comm, timeout C.int64_t, text *C.char, n C.size_t, length *C.size_t,
	f *C.struct_collgen_failure) C.int {
	return writeOf(number, text, n, length, f, func(c *comm) ([]byte, error) {
		if timeout <= 0 {
			timeout = C.int64_t(defaultHealth)
		}
		ctx, stop := within(int64(timeout))
		defer stop()
		r, err := c.Health(ctx)
		if err != nil {
			return nil, err
		}
		return []byte(r.String()), nil
	})
}
