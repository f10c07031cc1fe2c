//go:build !collgen_events

package events

// On says whether this program writes events.
const On = false
