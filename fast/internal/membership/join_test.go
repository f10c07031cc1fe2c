package membership

import (
	"slices"
	"testing"

	"github.com/collgen/collgen/fast/internal/control"
	"github.com/collgen/collgen/fast/internal/inproc"
	"github.com/collgen/collgen/fast/internal/setup"
	"github.com/collgen/collgen/fast/internal/wire"
)

// TestOfferOfOthers: a process that joins takes what its host offers, and nothing from others.
func TestOfferOfOthers(t *testing.T) {
	j := inproc.NewJob(3)
	defer j.Close()
	newcomer := &setup.Group{Plane: j.Plane(2), Members: []int{1}, Ranks: []int{1}}
	for process, text := range []string{"of another", "of the host"} {
		j.Plane(process).Send(2, wire.Topic{Kind: control.KindOffer}, []byte(text))
	}
	if m, err := receiveOffer(t.Context(), newcomer); err != nil || string(m.Body) != "of the host" {
		t.Errorf("took the offer %q of process %d: %v", m.Body, m.From, err)
	}
}

func FuzzDecodeOffer(f *testing.F) {
	f.Add((&Offer{ID: 1 << 63, Name: "world/grow1", Processes: []int{0, 2, 3}}).encode())
	f.Add([]byte(`{"ID":9,"Processes":[3,3]}`))
	f.Add([]byte(`{"ID":9,"Processes":[-1,3]}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		o, err := decodeOffer(b, 3)
		if err == nil && (!slices.Contains(o.Processes, 3) || slices.Min(o.Processes) < 0 || o.ID == control.WorldID) {
			t.Errorf("%+v", o)
		}
	})
}
