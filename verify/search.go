package verify

// search answers the questions of order that prefixes leave open, exactly: by walking back from an instruction over
// everything that has to have happened when it begins, through other ranks too.
type search struct {
	marks []uint32 // by instruction: the round in which it was found, twice, and one more when it was found to have ended
	round uint32
	stack []int32 // events: twice the instruction, and one more if it has ended
	steps int     // how many more events may be looked at
}

// All searches in one schedule may look at so many events, or at so many for each of its instructions if that is more.
// A search is short where a place was last used by a recent instruction of the same lane: only hostile plans come near
// this.
const (
	searchSteps     = 1 << 28
	searchStepsEach = 1 << 10
)

// before reports whether a has ended whenever b begins; it says no, too, when there are no more steps.
func (s *search) before(c *checker, a, b int32) bool {
	if len(s.marks) < len(c.ins) || s.round > 1<<30 {
		s.marks, s.round = make([]uint32, len(c.ins)), 0
	}
	s.round++
	s.stack = s.stack[:0]
	s.begun(c, b, a)
	for len(s.stack) > 0 {
		if s.steps--; s.steps < 0 {
			return false
		}
		e := s.stack[len(s.stack)-1]
		s.stack = s.stack[:len(s.stack)-1]
		g := e / 2
		if e%2 == 1 && g == a || c.inPrefix(a, g) {
			return true
		}
		if e%2 == 1 {
			s.ended(c, g, a)
		}
		s.begun(c, g, a)
	}
	return false
}

// begun pushes what has to have ended when g begins.
func (s *search) begun(c *checker, g, a int32) {
	first := c.first[c.ins[g].rank]
	for _, i := range c.source(g).After {
		s.push(c, first+int32(i), 1, a)
	}
}

// ended pushes what has to have happened, besides its own begin, when g ends.
func (s *search) ended(c *checker, g, a int32) {
	x := &c.ins[g]
	if x.isReceive() {
		s.push(c, c.sends[x.slot], 0, a)
	}
	if x.afterSend >= 0 {
		s.push(c, x.afterSend, 1, a)
	}
}

// push adds an event, unless it was found before or stands too early in the order for a to have ended before it.
func (s *search) push(c *checker, g, ended, a int32) {
	mark := s.round*2 + uint32(ended)
	if s.marks[g] >= mark || c.position[g] < c.position[a] {
		return
	}
	s.marks[g] = mark
	s.stack = append(s.stack, 2*g+ended)
}
