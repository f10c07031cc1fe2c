package control

// The kinds of control messages that communicators send.
const (
	KindNotice  uint8 = iota + 1 // a notice
	KindFound                    // of a new communicator, or of what Alloc makes: memory that ranks of one host share
	KindReady                    // of a new communicator: a rank has its transport, or why not
	KindGo                       // the answer to all when all have said ready
	KindConnect                  // asks the receiver to connect to the sender
	KindAgree                    // what package agree sends
	KindGrow                     // of a communicator that grows: who is new; of the job: a new process's card
	KindOffer                    // of the job: to a new process, what it becomes a rank of
	KindProbe                    // of package deadlock: a probe
	KindCard                     // of a new communicator: where its sender can be written to by RDMA
	KindPast                     // the calls that a rank has made last
	KindInquiry                  // of package deadlock: whether Agree, Shrink, Grow or Group can end
	KindHealth                   // of package monitor: what a rank does
	KindBarrier                  // of package monitor: how far a rank has come
	KindMessage                  // of package message: a frame
)
