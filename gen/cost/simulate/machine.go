package simulate

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// Machine is what ranks run on, and what everything costs there: times in seconds, prices in seconds per byte. Ranks
// fill one host after the other, and hosts one rack after the other.
type Machine struct {
	Name         string `json:"name,omitempty"`
	RanksPerHost int    `json:"ranksPerHost"` // 0: all ranks are on one host
	// of a host, on which its ranks stay, i on i modulo cores; 0: one for each rank
	Cores        int `json:"cores"`
	HostsPerRack int `json:"hostsPerRack"` // 0: all hosts are in one rack
	Segment      int `json:"segment"`      // bytes of a message that move on together
	// segments that are between two ranks of a host at most, in memory that all messages go round; 0: any number, in none
	Ring int `json:"ring"`

	Near Path   `json:"near"` // between two ranks of one host; Link is the host's memory, which all its ranks share
	Far  Path   `json:"far"`  // between hosts; Link is a host's network link, in each direction, which all its ranks share
	Rack Uplink `json:"rack"` // between racks, besides Far

	Copy   Rate    `json:"copy"`   // a core's, within a rank
	Reduce Rate    `json:"reduce"` // a core's, per byte of each operand
	Call   float64 `json:"call"`   // a core's, for each call of a collective
	// what it takes a core to go from one rank to the next, whether that has something to do or not
	Switch float64 `json:"switch"`
	// how long a rank that waits keeps its core from the next one, unless that one is what it waits for
	Spin float64 `json:"spin"`
}

// Path is what a message costs on one kind of way.
type Path struct {
	Alpha    float64 `json:"alpha"`    // from the sender to the receiver, if nothing else cost anything
	Overhead float64 `json:"overhead"` // of a core, at each end
	Link     float64 `json:"link"`     // per byte, of what is shared
	Put      Rate    `json:"put"`      // per byte, of the sender's core
	Take     Rate    `json:"take"`     // per byte, of the receiver's core, for what it only receives
	Fold     Rate    `json:"fold"`     // per byte, of the receiver's core, for what it reduces as it receives it
	Share    bool    `json:"share"`    // data for several ranks in one step is put once
	// bytes of the longest message that is not taken where nothing but reductions read it
	Lend int `json:"lend"`
}

// Uplink is what a rack's way to other racks costs.
type Uplink struct {
	Alpha float64 `json:"alpha"` // more than within a rack
	Link  float64 `json:"link"`  // per byte, in each direction, of what all hosts of the rack share
}

// maxSegments is into how many segments a message is cut at most, so that long ones stay cheap to play.
const maxSegments = 64

// Flat returns a machine all of whose ranks have a link of their own, in each direction, and nothing to share: alpha
// seconds for a message, beta per byte, and gamma per byte reduced.
func Flat(alpha, beta, gamma float64) Machine {
	return Machine{RanksPerHost: 1, Segment: 1 << 20, Far: Path{Alpha: alpha, Link: beta, Fold: Constant(gamma)},
		Reduce: Constant(gamma)}
}

// Decode reads a machine as JSON. A field that it does not name stays as it is in m; one that there is not is an error.
func Decode(r io.Reader, m *Machine) error {
	d := json.NewDecoder(r)
	d.DisallowUnknownFields()
	if err := d.Decode(m); err != nil {
		return err
	}
	if _, err := d.Token(); err != io.EOF {
		return errors.New("there is more text after the machine")
	}
	return m.Validate()
}

// Validate returns what is wrong with m.
func (m *Machine) Validate() error {
	for _, x := range []struct {
		name  string
		n, at int
	}{{"ranksPerHost", m.RanksPerHost, 0}, {"cores", m.Cores, 0}, {"hostsPerRack", m.HostsPerRack, 0},
		{"segment", m.Segment, 1},
		{"ring", m.Ring, 0}, {"near.lend", m.Near.Lend, 0}, {"far.lend", m.Far.Lend, 0}} {
		if x.n < x.at || x.n > maxCount {
			return fmt.Errorf("%s is %d, want %d to %d", x.name, x.n, x.at, maxCount)
		}
	}
	for _, p := range m.prices() {
		if err := validPrice(*p.is); err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
	}
	for _, r := range m.rates() {
		if err := r.is.validate(); err != nil {
			return fmt.Errorf("%s: %w", r.name, err)
		}
	}
	return nil
}

// price and rate are numbers of a machine, by their names in JSON.
type (
	price struct {
		name string
		is   *float64
	}
	rate struct {
		name string
		is   *Rate
	}
)

func (m *Machine) prices() []price {
	return []price{{"near.alpha", &m.Near.Alpha}, {"near.overhead", &m.Near.Overhead}, {"near.link", &m.Near.Link},
		{"far.alpha", &m.Far.Alpha}, {"far.overhead", &m.Far.Overhead}, {"far.link", &m.Far.Link},
		{"rack.alpha", &m.Rack.Alpha}, {"rack.link", &m.Rack.Link}, {"call", &m.Call}, {"switch", &m.Switch},
		{"spin", &m.Spin}}
}

func (m *Machine) rates() []rate {
	return []rate{{"near.put", &m.Near.Put}, {"near.take", &m.Near.Take}, {"near.fold", &m.Near.Fold},
		{"far.put", &m.Far.Put}, {"far.take", &m.Far.Take}, {"far.fold", &m.Far.Fold},
		{"copy", &m.Copy}, {"reduce", &m.Reduce}}
}
