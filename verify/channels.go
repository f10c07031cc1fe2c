package verify

import (
	"slices"

	"github.com/collgen/collgen/gen"
)

// Channel is what one channel of a schedule needs.
type Channel struct {
	From     int `json:"from"`
	To       int `json:"to"`
	Channel  int `json:"channel"`
	Messages int `json:"messages"`
	Capacity int `json:"capacity"` // how many messages it has to hold; 0: none, a send may wait for its receive
}

// Channels are the channels of s, by from, to and channel, with capacities that suffice together and of which none can
// be lowered alone. There can be several such: where two ranks exchange messages, one of the two channels has to hold
// one. Its error is that of Schedule.
func Channels(s *gen.Schedule) ([]Channel, error) {
	var c checker
	if err := c.load(s); err != nil {
		return nil, err
	}
	capacity := c.channelCapacities()
	list := make([]Channel, len(capacity))
	for ch := range list {
		send := c.sends[c.channel[ch]]
		in := c.source(send)
		list[ch] = Channel{From: int(c.ins[send].rank), To: in.Peer, Channel: in.Channel,
			Messages: int(c.channel[ch+1] - c.channel[ch]), Capacity: int(capacity[ch])}
	}
	slices.SortFunc(list, func(a, b Channel) int {
		return slices.Compare([]int{a.From, a.To, a.Channel}, []int{b.From, b.To, b.Channel})
	})
	return list, nil
}

// channelCapacities starts from the capacity that suffices for all, and lowers one channel after the other.
func (c *checker) channelCapacities() []int32 {
	capacity := slices.Repeat([]int32{int32(c.report.Capacity)}, len(c.channel)-1)
	for ch := range capacity {
		for capacity[ch] > 0 {
			capacity[ch]--
			if !c.ends(func(ch int32) int32 { return capacity[ch] }) {
				capacity[ch]++
				break
			}
		}
	}
	return capacity
}
