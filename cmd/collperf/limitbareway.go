package main

// A bare program may do what a rank may that is a process of its own: write to its own memory and to what all share,
// and read what it is let. Nobody writes to another rank's memory: a rank that is stopped in the middle would write to
// what its owner, which has given the call up, uses for something else.

// access is how a rank gets at what another one has.
type access int

const (
	bySlots   access = iota // the owner copies it into memory that all share
	byReading               // the system reads it in the memory of the owner's process
	byLending               // it lies in memory that the others can read: see fast.Alloc
)

// bareWork is a collective of so many ranks, and the ways to do it: the fastest one counts.
type bareWork struct {
	name  string
	ranks int
	ways  []bareWay
}

// bareWay is what a thread does for its ranks, with pieces of so many bytes. It waits for the other thread before it
// reads what that one may not have yet, and before it returns if the other one reads what its own ranks may overwrite
// then.
type bareWay struct {
	access
	piece int
	run   func(t *thread)
}

// Pieces of 16 KiB stay in the first cache from one step to the next, slots of 256 KiB in the second; Go's copy goes
// past the caches from 1 MiB on.
var bareWorks = []bareWork{
	{"all-reduce", 2, []bareWay{
		{bySlots, 256 << 10, (*thread).reduceAll},
		{bySlots, 64 << 10, (*thread).reduceHalf},
		{bySlots, 256 << 10, (*thread).reduceHalf},
		{byReading, 256 << 10, (*thread).reduceBlockThenRead},
		{byLending, 16 << 10, (*thread).reduceThenRead}}},
	{"all-reduce", 4, []bareWay{
		{bySlots, 256 << 10, (*thread).reduceAll},
		{bySlots, 64 << 10, (*thread).reduceHalf},
		{bySlots, 256 << 10, (*thread).reduceHalf}}},
	{"broadcast", 2, []bareWay{
		{bySlots, 64 << 10, (*thread).broadcast},
		{bySlots, 256 << 10, (*thread).broadcast},
		{bySlots, 1 << 20, (*thread).broadcast},
		{byReading, 1 << 20, (*thread).takeRoots},
		{byLending, 16 << 10, (*thread).takeRoots}}},
	{"broadcast", 4, []bareWay{
		{bySlots, 64 << 10, (*thread).broadcast},
		{bySlots, 256 << 10, (*thread).broadcast},
		{bySlots, 1 << 20, (*thread).broadcast},
		{byReading, 1 << 20, (*thread).takeRoots}}},
	{"reduce-scatter", 2, []bareWay{
		{bySlots, 64 << 10, (*thread).reduceBlock},
		{bySlots, 256 << 10, (*thread).reduceBlock},
		{byLending, 16 << 10, (*thread).reduceOwn}}},
	{"all-gather", 2, []bareWay{
		{bySlots, 64 << 10, (*thread).passBlock},
		{bySlots, 256 << 10, (*thread).passBlock},
		{byReading, 1 << 20, (*thread).takeBlock},
		{byLending, 16 << 10, (*thread).takeBlock}}},
	{"all-to-all", 2, []bareWay{
		{bySlots, 64 << 10, (*thread).swap},
		{bySlots, 256 << 10, (*thread).swap}}},
	{"all-to-all, two buffers", 2, []bareWay{
		{bySlots, 64 << 10, (*thread).passOwn},
		{bySlots, 256 << 10, (*thread).passOwn},
		{byReading, 1 << 20, (*thread).takeOwn},
		{byLending, 16 << 10, (*thread).takeOwn}}},
}
