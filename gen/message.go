package gen

// Message is a Send and the receive that gets it: indices into the programs of two ranks.
type Message struct {
	From, Send int
	To, Recv   int
}

// Messages returns the messages of s that have both ends, by receiver and receive.
func (s *Schedule) Messages() []Message {
	type channel struct{ from, to, lane int }
	sends := map[channel][]int{}
	for rank := range s.Ranks {
		for i := range s.Ranks[rank].Instrs {
			if in := &s.Ranks[rank].Instrs[i]; in.Kind == SendInstr {
				c := channel{rank, in.Peer, in.Channel}
				sends[c] = append(sends[c], i)
			}
		}
	}
	var messages []Message
	for rank := range s.Ranks {
		for i := range s.Ranks[rank].Instrs {
			in := &s.Ranks[rank].Instrs[i]
			c := channel{in.Peer, rank, in.Channel}
			if in.Kind.IsReceive() && len(sends[c]) > 0 {
				messages = append(messages, Message{in.Peer, sends[c][0], rank, i})
				sends[c] = sends[c][1:]
			}
		}
	}
	return messages
}
