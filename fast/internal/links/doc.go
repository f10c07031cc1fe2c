// Package links is what the endpoints of those transports have in common whose ranks have a link to each other rank that they
// exchange something with: how an endpoint ends, and whom its rank waits for. What carries the links is theirs.
package links
