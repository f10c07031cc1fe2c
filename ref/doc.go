// Package ref has the shortest correct implementation of every primitive and operator, on slices in one process.
// Everything else is compared with it. It is written to be read, not to be fast.
package ref
