//go:build linux

package launchers

import (
	"fmt"
	"testing"
	"time"
)

// TestLeaveOnSlowLinks: ranks on two hosts leave as soon as they have sent what they had to send, and exit, while most
// of that is still on its way between the hosts, and cannot come as long as the ranks there do something else: it comes
// all the same.
func TestLeaveOnSlowLinks(t *testing.T) {
	for _, link := range []struct {
		rate     string
		elements int
		after    time.Duration
	}{{"4mbit", 1_200_000, 0}, {"256kbit", 70_000, 0}, {"1mbit", 50_000, 6 * time.Second}} {
		t.Run(fmt.Sprint(link.rate, " ", link.after), func(t *testing.T) {
			w := newNetwork(t, 2)
			needs(t, "tc")
			for _, h := range w.hosts {
				if err := h.setUp(t.Context(), "tc qdisc add dev eth0 root tbf rate "+link.rate+" burst 16kb "+
					"latency 400ms"); err != nil {
					leaveOut(t, "%v", err)
				}
			}
			p := here(t).with(secret(t), "COLL_SIZE=4", "COLL_STORE=tcp://10.77.0.1:29500")
			var ranks []*place
			for rank := range 4 {
				ranks = append(ranks, p.on(w.hosts[rank/2]).with(fmt.Sprint("COLL_RANK=", rank)))
			}
			together(t, ranks, program("rollcall"), "-leave", fmt.Sprint(link.elements), "-after", link.after.String())
		})
	}
}
