package main

import (
	"context"
	"slices"
	"unsafe"

	"github.com/collgen/collgen/fast"
	"github.com/collgen/collgen/spec"
)

// element is an element type that operations can be measured with.
type element struct {
	name    string
	alias   string // nccl-tests' name of it
	bytes   int
	integer bool
	exact   int64 // sums of integers up to it are exact, without wrapping around
	load    func(ctx context.Context, c *fast.Comm, t *trial) (load, error)
}

var elements = []element{
	elementOf("float32", "float", 1<<24, false, func(v float64) float32 { return float32(v) }),
	elementOf("float64", "double", 1<<53, false, func(v float64) float64 { return v }),
	elementOf("float16", "half", 1<<11, false, func(v float64) fast.Float16 { return spec.NewFloat16(float32(v)) }),
	elementOf("bfloat16", "bfloat16", 1<<8, false, func(v float64) fast.BFloat16 { return spec.NewBFloat16(float32(v)) }),
	elementOf("int8", "int8", 1<<7-1, true, toInteger[int8]),
	elementOf("int16", "int16", 1<<15-1, true, toInteger[int16]),
	elementOf("int32", "int32", 1<<31-1, true, toInteger[int32]),
	elementOf("int64", "int64", 1<<53, true, toInteger[int64]),
	elementOf("uint8", "uint8", 1<<8-1, true, toInteger[uint8]),
	elementOf("uint16", "uint16", 1<<16-1, true, toInteger[uint16]),
	elementOf("uint32", "uint32", 1<<32-1, true, toInteger[uint32]),
	elementOf("uint64", "uint64", 1<<53, true, toInteger[uint64]),
}

func elementOf[T fast.Elem](name, alias string, exact int64, integer bool, of func(float64) T) element {
	var zero T
	return element{name: name, alias: alias, bytes: int(unsafe.Sizeof(zero)), integer: integer, exact: exact,
		load: func(ctx context.Context, c *fast.Comm, t *trial) (load, error) { return newBuffers(ctx, c, t, of) }}
}

func toInteger[T int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64](v float64) T {
	return T(int64(v))
}

func elementNamed(name string) (element, bool) {
	i := slices.IndexFunc(elements, func(e element) bool { return e.name == name || e.alias == name })
	if i < 0 {
		return element{}, false
	}
	return elements[i], true
}

// names returns those of all elements of a list, for people.
func names[E any](of []E, name func(E) string) (all []string) {
	for _, e := range of {
		all = append(all, name(e))
	}
	return all
}
