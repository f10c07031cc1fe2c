package verbs

import "fmt"

// EventType says what an Event is about, by the numbers of the InfiniBand verbs.
type EventType uint32

// Those after which a transport does something.
const (
	EventCQError        EventType = 0
	EventQPFatal        EventType = 1
	EventQPRequestError EventType = 2
	EventQPAccessError  EventType = 3
	EventEstablished    EventType = 4
	EventDeviceFatal    EventType = 8
	EventPortActive     EventType = 9
	EventPortError      EventType = 10
	EventGIDChange      EventType = 18
)

var eventWords = [...]string{
	"a completion queue overran",
	"a queue pair failed",
	"a queue pair got an invalid request",
	"a queue pair got a request that its memory does not allow",
	"a queue pair has got its first message",
	"a send queue is drained",
	"a path migrated",
	"a path could not migrate",
	"the device failed",
	"the port is up",
	"the port is down",
	"the port has another LID",
	"the port has other partition keys",
	"the port has another subnet manager",
	"a shared receive queue failed",
	"a shared receive queue is nearly empty",
	"a queue pair has consumed its last receive",
	"the subnet manager asks to register again",
	"the port has other GIDs",
	"a work queue failed",
}

// String returns the type in words.
func (t EventType) String() string {
	if int(t) < len(eventWords) {
		return eventWords[t]
	}
	return fmt.Sprintf("event %d", uint32(t))
}

// Event is what happened to a device that was not asked for.
type Event struct {
	Device string
	Type   EventType
	Port   int    // if it is about a port
	QP     uint32 // if it is about a queue pair: its number
	owner  uint32 // if it is about a completion queue: the number of the context that has it, which alone is told
}

// Fatal says that nothing that is open on the device, or on the port of the event, works from now on; or, of a
// completion queue that overran, nothing that completes in it.
func (e Event) Fatal() bool {
	return e.Type == EventPortError || e.Type == EventDeviceFatal || e.Type == EventCQError
}

// String returns what happened, and to what.
func (e Event) String() string {
	switch {
	case e.Port != 0:
		return fmt.Sprintf("RDMA device %s, port %d: %v", e.Device, e.Port, e.Type)
	case e.QP != 0:
		return fmt.Sprintf("RDMA device %s, queue pair %d: %v", e.Device, e.QP, e.Type)
	}
	return fmt.Sprintf("RDMA device %s: %v", e.Device, e.Type)
}
