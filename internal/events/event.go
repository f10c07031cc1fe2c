package events

// Format names the form of the files, and its version.
const Format = "collgen events 1"

// Header is the first line of a file.
type Header struct {
	Format  string `json:"format"`
	Process int    `json:"process"` // the number of the process in its job
	Size    int    `json:"size"`    // the number of processes that the job began with
	Job     string `json:"job"`
}

// Event is one line. Do says what it is, and which of the other fields it has: the table is Kinds.
type Event struct {
	N    uint64 `json:"n"`           // its number on this rank, from 1
	Comm uint64 `json:"comm,string"` // the number of the communicator
	Do   Kind   `json:"do"`

	Member *Member `json:"member,omitempty"`
	Call   *Call   `json:"call,omitempty"`
	Sends  []Send  `json:"sends,omitempty"`
	Recvs  []Recv  `json:"recvs,omitempty"`
	Part   *Part   `json:"part,omitempty"`
	Local  *Local  `json:"local,omitempty"`
	Ended  *Ended  `json:"ended,omitempty"`
	Notice *Notice `json:"notice,omitempty"`
	Agreed *Agreed `json:"agreed,omitempty"`
}

// Kind is what an event is.
type Kind string

// The kinds of events.
const (
	Joined Kind = "joined" // the rank has its end of a new communicator (Member)
	Begin  Kind = "begin"  // a call begins (Call); calls between a sender and a receiver may begin together
	Step   Kind = "step"   // the messages of a step (Sends, Recvs) begin to be in flight together
	Put    Kind = "put"    // a part of a message can be taken by its receiver from now on (Part)
	// a part's memory is not read any more; parts that were copied for the receiver have no such event
	Sent   Kind = "sent"
	Taken  Kind = "taken"  // a part was read out of the sender's memory, and is not in its place yet
	Placed Kind = "placed" // a part that was received is in its place, reduced if it is to be
	Freed  Kind = "freed"  // the memory of the segment Part.Segment, which was lent, may be used again
	Wrote  Kind = "wrote"  // the system has taken bytes of a connection, frames and all (Part.Bytes)
	Came   Kind = "came"   // the system has brought so many
	// the header of a frame is taken: Part.At is where the frame begins in what has come, Part.Segment its kind
	Framed Kind = "frame"
	Done   Kind = "done"   // all messages of the step are complete
	Copy   Kind = "copy"   // a local copy (Local); lent: reductions read it where it was
	Reduce Kind = "reduce" // a local reduction
	Finish Kind = "finish" // a reduction is finished, in place
	End    Kind = "end"    // the call is over; of calls that began together: all of them
	Failed Kind = "failed" // the call has failed (Ended)
	Lost   Kind = "lost"   // another rank is found to be gone (Ended)
	Tell   Kind = "tell"   // the other ranks are told that this one gives up, or leaves (Notice)
	Heard  Kind = "heard"  // another rank has told so (Notice)
	Fate   Kind = "fate"   // the communicator is of no use any more on this rank, the first time (Ended)
	Agree  Kind = "agree"  // what all ranks have agreed on (Agreed)
	Closed Kind = "closed" // the rank has left the communicator
)

// Member is a rank of a communicator.
type Member struct {
	Name      string `json:"name"`
	Rank      int    `json:"rank"`
	Size      int    `json:"size"`
	Processes []int  `json:"processes"` // of all ranks
	Transport string `json:"transport"` // "inproc", "shm", "tcp" or "mixed"
	Slots     int    `json:"slots"`     // how many segments a ring of shared memory holds; 0: there are none
	Lines     int    `json:"lines"`     // and how many of those that are the last of their message, and short
}

// Call is a call. The hashes are those above the generated functions.
type Call struct {
	Seq         uint64 `json:"seq"` // of the communicator's collectives, or of the calls of a sender and a receiver
	Fingerprint uint64 `json:"fingerprint,string"`
	Primitive   string `json:"primitive"`
	Algorithm   string `json:"algorithm"`
	Spec        uint64 `json:"spec,string"`
	Schedule    uint64 `json:"schedule,string"`
	Op          string `json:"op"`      // "": the primitive takes none
	Type        string `json:"type"`    // of an element
	Element     int    `json:"element"` // its bytes
	Count       int    `json:"count"`   // elements per block
	Root        int    `json:"root"`    // of a call between two ranks: the sender
	Peer        int    `json:"peer"`    // the receiver; -1: all ranks take part
	Depth       int    `json:"depth"`
	Local       int    `json:"local,omitempty"` // ranks on each host, where they make a difference to the algorithm
	In          int    `json:"in"`              // bytes that the rank passes
	Out         int    `json:"out"`             // and those that it gets
	// Shared says that In and Out share memory, and InAt where In begins then, in bytes after the beginning of Out.
	Shared bool `json:"shared"`
	InAt   int  `json:"inAt"`
	// Where the blocks of In and Out lie, if they may differ in length.
	InBlocks  []Block `json:"inBlocks,omitempty"`
	OutBlocks []Block `json:"outBlocks,omitempty"`
}

// Block is bytes of a buffer, from byte At on.
type Block struct {
	At    int `json:"at"`
	Bytes int `json:"bytes"`
}

// Place is memory of a call: Bytes bytes from byte At of the buffer on. What is in Out and in In is named as Out's.
type Place struct {
	Buf   string `json:"buf"` // "in", "out" or "scratch"; "": none, of an empty message
	At    int    `json:"at"`
	Bytes int    `json:"bytes"`
}

// Send is an outgoing message of a step.
type Send struct {
	Peer int    `json:"peer"`
	Data Place  `json:"data"`
	Call uint64 `json:"call,string,omitempty"` // the fingerprint of its call, where several began together
}

// Recv is an incoming message of a step.
type Recv struct {
	Peer          int    `json:"peer"`
	Into          Place  `json:"into"`
	With          *Place `json:"with,omitempty"` // what it is reduced with
	ReceivedFirst bool   `json:"receivedFirst,omitempty"`
	AfterSend     bool   `json:"afterSend,omitempty"`
	Lend          bool   `json:"lend,omitempty"`
	Call          uint64 `json:"call,string,omitempty"`
}

// Part is bytes of a message, from byte At on: of the first one to or from Peer that is not complete.
type Part struct {
	Peer    int    `json:"peer"`
	At      int    `json:"at"`
	Bytes   int    `json:"bytes"`
	Via     Via    `json:"via"`
	Segment uint32 `json:"segment"` // the number of the ring's segment, of shared memory
	Lent    bool   `json:"lent,omitempty"`
}

// Via is how a part goes.
type Via string

// The ways of parts.
const (
	Inline  Via = "inline"  // in the line of a ring that announces it
	Slot    Via = "slot"    // in a small slot of the ring
	Full    Via = "full"    // in a full slot of the ring
	Board   Via = "board"   // in a multicast slot of the sender
	Region  Via = "region"  // in memory that the sender has registered
	Process Via = "process" // in the sender's memory, which the receiver reads by process_vm_readv(2)
	Memory  Via = "memory"  // in the sender's memory, which both have
	Frame   Via = "frame"   // in a frame of TCP
)

// Local is what a rank does by itself.
type Local struct {
	Into Place   `json:"into"`
	From []Place `json:"from,omitempty"` // the operands of a reduction, in their order
	Lent bool    `json:"lent,omitempty"`
}

// Ended is why something ended.
type Ended struct {
	State  string `json:"state,omitempty"` // of the communicator
	Error  string `json:"error"`
	Blames []int  `json:"blames,omitempty"` // the ranks at fault, as far as the error says
}

// Notice is what a rank tells the others.
type Notice struct {
	From  int    `json:"from"` // the rank that has sent it; of Tell, this rank
	By    int    `json:"by"`   // the rank whose notice it is; others pass it on
	State string `json:"state"`
	Rank  int    `json:"rank"`           // the rank at fault
	Down  string `json:"down,omitempty"` // how it is down, if it is
}

// Agreed is the result of an agreement.
type Agreed struct {
	Seq   uint64 `json:"seq"`
	What  string `json:"what"`
	Flags uint64 `json:"flags"`
	Gone  []int  `json:"gone"` // the ranks that it does without
}
