package verify

import (
	"slices"
	"sort"

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

// Channels returns the channels of s, by from, to and channel, with capacities that suffice together and of which none
// can be lowered alone. There can be several such: where two ranks exchange messages, one of the two channels has to
// hold one. Its error is that of Schedule, also where there are so many channels that it would take minutes.
func Channels(s *gen.Schedule) ([]Channel, error) {
	var c checker
	if err := c.load(s); err != nil {
		return nil, err
	}
	capacity, err := c.channelCapacities()
	if err != nil {
		return nil, err
	}
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

// channelWork bounds channels × instructions, where capacities have to be found.
const channelWork = 1 << 28

// channelCapacities starts from the capacity that suffices for all, and lowers one channel after the other.
func (c *checker) channelCapacities() ([]int32, error) {
	enough := c.report.Capacity
	capacity := slices.Repeat([]int32{int32(enough)}, len(c.channel)-1)
	if enough > 0 && len(capacity)*len(c.ins) > channelWork {
		f := c.failure(Shape, -1)
		f.Got = "it takes too long to find out what each channel needs"
		return nil, f
	}
	for ch := range capacity {
		capacity[ch] = int32(sort.Search(enough, func(k int) bool {
			capacity[ch] = int32(k)
			return c.ends(func(ch int32) int32 { return capacity[ch] })
		}))
	}
	return capacity, nil
}
