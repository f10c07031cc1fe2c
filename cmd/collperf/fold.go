package main

import (
	"slices"

	"github.com/collgen/collgen/fast"
)

// folding is a reduction operator as it is computed here, apart from fast.
type folding struct {
	op       fast.Op
	integers bool // takes nothing else
	fold     func(a, b int64) int64
}

// divided returns the result of Avg: what the sum is divided by.
func (f folding) divided(ranks int) int64 {
	if f.op == fast.Avg {
		return int64(ranks)
	}
	return 1
}

var foldings = []folding{
	{op: fast.Sum, fold: func(a, b int64) int64 { return a + b }},
	{op: fast.Prod, fold: func(a, b int64) int64 { return a * b }},
	{op: fast.Min, fold: func(a, b int64) int64 { return min(a, b) }},
	{op: fast.Max, fold: func(a, b int64) int64 { return max(a, b) }},
	{op: fast.Avg, fold: func(a, b int64) int64 { return a + b }},
	{op: fast.BAnd, integers: true, fold: func(a, b int64) int64 { return a & b }},
	{op: fast.BOr, integers: true, fold: func(a, b int64) int64 { return a | b }},
	{op: fast.BXor, integers: true, fold: func(a, b int64) int64 { return a ^ b }},
	{op: fast.LAnd, integers: true, fold: func(a, b int64) int64 { return truth(a != 0 && b != 0) }},
	{op: fast.LOr, integers: true, fold: func(a, b int64) int64 { return truth(a != 0 || b != 0) }},
}

func truth(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

func foldingNamed(name string) (folding, bool) {
	i := slices.IndexFunc(foldings, func(f folding) bool { return f.op.String() == name })
	if i < 0 {
		return folding{}, false
	}
	return foldings[i], true
}
