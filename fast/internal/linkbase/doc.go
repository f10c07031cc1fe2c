// Package linkbase is what the endpoints of those transports have in common whose ranks have a link to each other rank
// that they exchange something with: the messages of an Exchange, in order on each link, and how far they are; whom the
// rank waits for; what it learns of calls that disagree; and how the endpoint ends. What carries the links is the
// transports' own, and so is the loop that drives them.
package linkbase
