// Package replay compares the events that the ranks of a real run have logged (internal/events) with the proved
// schedules of their calls. Every event has to belong to a step, and every step has to be complete in the end. The
// bytes of each message have to arrive once, in order, after they were sent, and in the segments of the transport.
//
// Only messages order the events of different ranks. Replay looks for an order of all events that keeps the order of
// each rank, and in which data is received after it was sent. An event may wait for other ranks, but never disables an
// event of theirs. So it does not matter which of several possible events is next: if one order leads to the end, all
// do. An event that does not fit, or that never becomes possible, is an *Error that names its line.
package replay
