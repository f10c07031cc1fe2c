package gen

// Rounds returns the rounds of every rank's steps: the least numbers such that a rank's grow, and that nothing is
// received before it is sent. Those of a schedule that cannot end have no meaning, and take long to find.
func (s *Schedule) Rounds() [][]int {
	r := s.StepsAsRounds()
	steps := 0
	for rank := range r {
		steps += len(r[rank])
	}
	messages := s.Messages()
	for range steps { // a schedule that can end is done before: every time, one more step has got its round
		if !raise(s, messages, r) {
			break
		}
	}
	return r
}

// StepsAsRounds returns the rounds of a schedule in which nobody waits for a message: every rank's steps are counted.
func (s *Schedule) StepsAsRounds() [][]int {
	r := make([][]int, len(s.Ranks))
	for rank := range s.Ranks {
		for i := range s.Ranks[rank].Instrs {
			for len(r[rank]) <= s.Ranks[rank].Instrs[i].Step {
				r[rank] = append(r[rank], len(r[rank]))
			}
		}
	}
	return r
}

// raise raises the rounds that are too low for those they follow, and reports whether there were any.
func raise(s *Schedule, messages []Message, r [][]int) bool {
	raised := false
	atLeast := func(round *int, least int) {
		raised = raised || *round < least
		*round = max(*round, least)
	}
	for _, own := range r {
		for step := 1; step < len(own); step++ {
			atLeast(&own[step], own[step-1]+1)
		}
	}
	for _, m := range messages {
		from, to := s.Ranks[m.From].Instrs[m.Send].Step, s.Ranks[m.To].Instrs[m.Recv].Step
		atLeast(&r[m.To][to], r[m.From][from])
	}
	return raised
}
