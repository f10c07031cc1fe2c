// Package simulate predicts how long a collective takes on a machine that need not be at hand: thousands of ranks,
// several to a host, hosts that share links and racks that share uplinks. It plays what every rank does, step by step,
// in discrete events: cores copy, reduce and pay for each message, and segments of messages queue for cores and links,
// first come, first served. A Machine says what everything costs (docs/cost.md).
//
// It is no proof and no bound. What algorithms cost in messages and chunks, as they declare it, is defined by the
// simpler model of cost.Time, in which there are neither hosts nor cores and a message takes both its ends from start
// to arrival.
package simulate
