//go:build cgo && linux && (amd64 || arm64)

package main

// #include <stdlib.h>
// #include "call.h"
import "C"

import (
	"context"
	"fmt"
	"log/slog"
	"time"
	"unsafe"

	"github.com/collgen/collgen/fast"
)

// secretBytes is how long a secret is.
const secretBytes = 32

//export goInit
func goInit(settings *C.collgen_settings, environ **C.char, ticket *C.char, timeout C.int64_t, into *C.collgen_comm,
	f *C.struct_collgen_failure) C.int {
	opts, err := initOptions(settings, environ)
	if err != nil {
		return report(f, err)
	}
	ctx, stop := limited(int64(timeout))
	defer stop()
	var c *fast.Comm
	if ticket != nil {
		c, err = fast.Join(ctx, C.GoString(ticket), opts...)
	} else {
		c, err = fast.Init(ctx, opts...)
	}
	return report(f, made(into, c, err))
}

// initOptions returns the options of Init that say the same as settings.
func initOptions(settings *C.collgen_settings, environ **C.char) ([]fast.InitOption, error) {
	if settings != nil && settings.size != C.sizeof_collgen_settings {
		return nil, refuse("settings of %d bytes, want %d", settings.size, C.sizeof_collgen_settings)
	}
	opts := fast.FromVariables(variablesOf(settings, environ))
	if settings == nil {
		return opts, nil
	}
	if settings.secret != nil {
		opts = append(opts, fast.WithSecret(C.GoBytes(settings.secret, secretBytes)))
	}
	if s := settings.store; s != nil {
		if s.set == nil || s.get == nil || s.remove == nil {
			return nil, refuse("a function of the store is NULL")
		}
		opts = append(opts, fast.WithStore(&store{*s}))
	}
	if settings.reproducible != 0 {
		opts = append(opts, fast.WithReproducible())
	}
	if settings.log != nil {
		opts = append(opts, fast.WithLogger(slog.New(newHandler(&logTo{*settings}))))
	}
	return opts, nil
}

// logTo writes what is logged by a function of C.
type logTo struct{ settings C.collgen_settings }

func (l *logTo) write(level slog.Level, text string) {
	is := C.CString(text)
	defer C.free(unsafe.Pointer(is))
	C.collgen_do_log(&l.settings, C.int(level), is)
}

// store is a Store of C functions.
type store struct{ is C.collgen_store }

// turn is how long a Get of C may wait before it is seen whether somebody still wants its result.
const turn = 100 * time.Millisecond

// entry returns a key and a value as C has them, after checking them.
func entry(key string, value []byte) (k *C.char, err error) {
	if err := fast.CheckStoreEntry(key, value); err != nil {
		return nil, err
	}
	return C.CString(key), nil
}

// Set sets or replaces the value under key.
func (s *store) Set(_ context.Context, key string, value []byte) error {
	k, err := entry(key, value)
	if err != nil {
		return err
	}
	defer C.free(unsafe.Pointer(k))
	if code := C.collgen_do_set(&s.is, k, unsafe.Pointer(unsafe.SliceData(value)), C.size_t(len(value))); code != 0 {
		return fmt.Errorf("the store's set has returned %d", code)
	}
	return nil
}

// Get waits until there is a value under key.
func (s *store) Get(ctx context.Context, key string) ([]byte, error) {
	k, err := entry(key, nil)
	if err != nil {
		return nil, err
	}
	defer C.free(unsafe.Pointer(k))
	buf := C.malloc(fast.MaxStoreValue)
	defer C.free(buf)
	for {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		n := C.size_t(fast.MaxStoreValue)
		switch code := C.collgen_do_get(&s.is, k, buf, &n, C.int64_t(turn)); {
		case code == 0 && n > fast.MaxStoreValue:
			return nil, fmt.Errorf("the store's get has returned a value of %d bytes", n)
		case code == 0:
			return C.GoBytes(buf, C.int(n)), nil
		case code != -1:
			return nil, fmt.Errorf("the store's get has returned %d", code)
		}
	}
}

// Delete removes key and its value.
func (s *store) Delete(_ context.Context, key string) error {
	k, err := entry(key, nil)
	if err != nil {
		return err
	}
	defer C.free(unsafe.Pointer(k))
	if code := C.collgen_do_remove(&s.is, k); code != 0 {
		return fmt.Errorf("the store's remove has returned %d", code)
	}
	return nil
}
