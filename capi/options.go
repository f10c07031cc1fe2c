//go:build cgo && linux && (amd64 || arm64)

package main

// #include "call.h"
import "C"

import (
	"unsafe"

	"github.com/collgen/collgen/fast"
)

// maxOptions is how many options a call of a C program can have.
const maxOptions = 5

// optionsOf returns the options of a call, in list, and its timeout.
func optionsOf(o *C.collgen_options, list *[maxOptions]fast.Option) (opts []fast.Option, timeout int64, err error) {
	if o.size != C.sizeof_collgen_options {
		return nil, 0, refuse("options of %d bytes, want %d", o.size, C.sizeof_collgen_options)
	}
	opts = list[:0]
	if o.algorithm != nil {
		opts = append(opts, fast.WithAlgorithm(C.GoString(o.algorithm)))
	}
	if o.label != nil {
		opts = append(opts, fast.WithLabel(C.GoString(o.label)))
	}
	if o.depth != 0 {
		opts = append(opts, fast.WithDepth(int(o.depth)))
	}
	if o.reproducible != 0 {
		opts = append(opts, fast.Reproducible())
	}
	if o.factor != nil {
		opts = append(opts, fast.WithPreMul(float64(*o.factor)))
	}
	return opts, int64(o.timeout), nil
}

// variablesOf returns the value of a variable, of those that settings have, or else of the environment.
func variablesOf(settings *C.collgen_settings, environ **C.char) func(name string) string {
	from := environ
	if settings != nil && settings.variables != nil {
		from = settings.variables
	}
	values := map[string]string{}
	for ; from != nil && *from != nil; from = (**C.char)(unsafe.Add(unsafe.Pointer(from), unsafe.Sizeof(*from))) {
		name, value := cut(C.GoString(*from))
		if _, ok := values[name]; !ok { // as getenv has it
			values[name] = value
		}
	}
	return func(name string) string { return values[name] }
}
