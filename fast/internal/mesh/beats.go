package mesh

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/collgen/collgen/fast/internal/wire"
)

// errBeats: what a process has sent as its count is none, so it is broken.
var errBeats = errors.New("not a count of heartbeats")

// showBeats has p read this process's count of heartbeats. It is false if it is to get heartbeats instead.
func (m *Mesh) showBeats(p *peer) bool {
	if m.beats == nil || p.files == nil {
		return false
	}
	copies, err := copyFiles([]int{m.beats.file})
	if err != nil {
		m.cfg.Log.Debug("heartbeats are not counted in shared memory", "for", p.process, "error", err)
		return false
	}
	p.counted.Store(true)
	return p.send(newFrame(frameCount, wire.Topic{}, nil, copies)) == nil
}

// follow reads the count of p's heartbeats, in a file, if it came and this process has room for it.
func (m *Mesh) follow(p *peer, files []int) error {
	var kept []int
	err := errLost
	if len(files) > 0 {
		if m.introducing.Load() && pairRoom() >= 2*m.me.Size { // there is room to keep one for each process
			kept, _ = copyFiles(files)
		}
		err = m.takeCount(p, files[0])
	}
	if err != nil {
		closeFiles(kept)
		kept = nil
	}
	m.greeted(p, kept)
	if err == nil || errors.Is(err, errBeats) {
		return err
	}
	m.cfg.Log.Debug("heartbeats cannot be read from shared memory", "of", p.process, "error", err)
	return p.send(newFrame(frameBlind, wire.Topic{}, nil, nil))
}

// takeCount reads the count of p's heartbeats from now on, in a file, which it closes.
func (m *Mesh) takeCount(p *peer, file int) error {
	b, err := openBeats(file)
	if err != nil {
		return err
	}
	m.mu.Lock()
	m.counts = append(m.counts, b)
	m.mu.Unlock()
	if !p.beats.CompareAndSwap(nil, b) {
		return errBeats
	}
	return nil
}

// greeted takes the first word of a process, and the file in which it counts its heartbeats, if it has sent one and
// this process may have to pass it on.
func (m *Mesh) greeted(p *peer, count []int) {
	if !m.introducing.Load() {
		closeFiles(count)
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if p.count != nil {
		closeFiles(count)
		return
	}
	p.count = append([]int{}, count...)
	m.broadcast()
}

// lateBytes are how many bytes say by how much a process has been late: in milliseconds, or nothing if it was not.
const lateBytes = 4

func encodeLate(late int64) []byte {
	if late <= 0 {
		return nil
	}
	return binary.LittleEndian.AppendUint32(nil, uint32(min(late/int64(time.Millisecond), math.MaxUint32)))
}

func decodeLate(b []byte) (int64, error) {
	switch len(b) {
	case 0:
		return 0, nil
	case lateBytes:
		return int64(binary.LittleEndian.Uint32(b)) * int64(time.Millisecond), nil
	}
	return 0, fmt.Errorf("a heartbeat with %d bytes", len(b))
}
