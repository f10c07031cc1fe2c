package gen

import "github.com/collgen/collgen/spec"

// Measurement is what one Schedule costs. Alpha, Beta and Gamma are the lengths of its critical paths, as Time finds
// them where nothing but that part has a price: messages, chunks on the wire, chunks reduced.
type Measurement struct {
	Alpha, Beta, Gamma int
	Steps              int // steps with messages, of the rank that has the most
	Sent, Received     int // chunks, of the rank that has the most
	Total              int // chunks that all ranks together send
}

// Measure measures s. It fails for a schedule that cannot end.
func Measure(s *Schedule) (Measurement, error) {
	var m Measurement
	tasks := newTasks(s)
	for part, price := range map[*int]Price{&m.Alpha: {Alpha: 1}, &m.Beta: {Beta: 1}, &m.Gamma: {Gamma: 1}} {
		t, err := play(tasks, s.Size, price)
		if err != nil {
			return m, err
		}
		*part = t
	}
	for rank := range s.Ranks {
		m.add(s.Ranks[rank].Instrs)
	}
	return m, nil
}

// add counts what one rank does.
func (m *Measurement) add(instrs []Instr) {
	steps := map[int]bool{}
	sent, received := 0, 0
	for i := range instrs {
		switch in := &instrs[i]; {
		case in.Kind == SendInstr:
			sent += in.Srcs[0].N
			steps[in.Step] = true
		case in.Kind.IsReceive():
			received += in.Dst.N
			steps[in.Step] = true
		}
	}
	m.Steps, m.Sent, m.Received = max(m.Steps, len(steps)), max(m.Sent, sent), max(m.Received, received)
	m.Total += sent
}

// Eval returns the cost for size ranks and one depth, in messages and chunks. One rank alone costs nothing.
func (c Cost) Eval(size, depth int) (alpha, beta, gamma int, err error) {
	if size == 1 {
		return 0, 0, 0, nil
	}
	env := spec.Env{{Name: spec.Size.Name, Value: size}, {Name: spec.Depth.Name, Value: depth}}
	for _, x := range []struct {
		is *int
		e  spec.Expr
	}{{&alpha, c.Alpha}, {&beta, c.Beta}, {&gamma, c.Gamma}} {
		if *x.is, err = x.e.Eval(env); err != nil {
			return 0, 0, 0, err
		}
	}
	return alpha, beta, gamma, nil
}
