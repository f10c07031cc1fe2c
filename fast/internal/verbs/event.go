package verbs

import "fmt"

// EventType is the type of an Event, by the numbers of the InfiniBand verbs.
type EventType uint32

// The events that a transport handles.
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

// Event is something that happened to a device asynchronously.
type Event struct {
	Device string
	Type   EventType
	Port   int    // the port, if it is about one
	QP     uint32 // the queue pair's number, if it is about one
	owner  uint32 // if it is about a completion queue: the number of its context, which alone is notified
}

// Fatal reports whether nothing works any more: on the device, on the port of the event, or in a completion queue that
// overran.
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
