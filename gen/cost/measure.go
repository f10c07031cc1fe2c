// Package cost measures what schedules cost in messages and chunks, in a simple model of time.
package cost

import "github.com/collgen/collgen/gen"

// Measurement is what one Schedule costs. Alpha, Beta and Gamma are the lengths of its critical paths, as Time finds
// them where nothing but that part has a price: messages, chunks on the wire, chunks reduced.
type Measurement struct {
	Alpha, Beta, Gamma int
	Steps              int // steps with messages, of the rank that has the most
	Sent, Received     int // chunks, of the rank that has the most
	Total              int // chunks that all ranks together send
}

// Measure measures s. It fails for a schedule that cannot end.
func Measure(s *gen.Schedule) (Measurement, error) {
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
func (m *Measurement) add(instrs []gen.Instr) {
	steps := map[int]bool{}
	sent, received := 0, 0
	for i := range instrs {
		switch in := &instrs[i]; {
		case in.Kind == gen.SendInstr:
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
