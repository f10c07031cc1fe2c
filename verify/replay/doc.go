// Package replay compares what the ranks of a real run have written down (internal/events) with the proved schedules of
// their calls, one event at a time: every event has its step, every step is done in the end, and the bytes of each
// message arrive once, in order, and not before they were sent, in segments that are those of the transport.
//
// Events of different ranks have no order but what follows from messages: Replay looks for an order in which each
// rank's events are in its own, and what is received was sent before. As each event waits for at most what other ranks
// do, and takes nothing from them, it does not matter which of several that are possible comes next: if one order leads
// to the end, all do. An event that does not fit, or that never becomes possible, is an *Error that names its line.
package replay
