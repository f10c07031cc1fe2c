package mesh

import "net"

// Wired returns the mesh of a job that is simulated: over connections that are there already, one to each process, nil
// to its own. pause is called before anything is read, written or looked after.
func Wired(cfg Config, wires []net.Conn, pause func()) (*Mesh, error) {
	cfg.pause = pause
	m, err := newMesh(cfg)
	if err != nil {
		return nil, err
	}
	m.work.Go(m.watchOver)
	for process, wire := range wires {
		c := Card{Process: process, Host: cfg.Host, HeartbeatTimeout: m.cfg.HeartbeatTimeout}
		m.know(c, c.encode(cfg.Credentials, cfg.Identity))
		if wire != nil {
			m.attach(process, wire, nil)
		}
	}
	return m, nil
}
