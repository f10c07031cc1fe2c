package launch

import (
	"net"
	"net/netip"
	"runtime"
	"strconv"
)

// hasLocal tells whether there is a store for ranks on one host that needs nothing.
const hasLocal = runtime.GOOS == "linux"

// PMI is the address of the store that a launcher keeps.
const PMI = "pmi"

// Local is the address of the store for ranks on one host.
const Local = "local"

// store is where the ranks find each other. A job of one rank needs nothing.
func (e *environment) store(l *Launch, row *launcher) {
	switch {
	case e.get("COLL_STORE") != "":
		l.Store = e.get("COLL_STORE")
		e.because("COLL_STORE says where the ranks find each other")
	case row.keeps:
		l.Store = PMI
		e.because("the launcher keeps a store for its processes, and the secret in it")
	case l.Size == 1:
		e.because("a job of one rank needs no store")
	case l.LocalSize == l.Size && hasLocal:
		l.Store = Local
		e.because("all ranks are on this host")
	default:
		var why string
		l.Store, why = row.storeOf(e, l)
		e.because("%s", why)
	}
}

// noStore returns a launcher's that does not say where rank 0 is.
func noStore(_ *environment, l *Launch) (string, string) {
	return "", "ranks are, or may be, on several hosts, and " + l.Launcher + " does not say where rank 0 is: set COLL_STORE " +
		"(tcp://host:port with the host of rank 0, or file:///directory that all hosts have) and COLL_SECRET_FILE on all ranks"
}

// masterIsHere returns the number of ranks on this host if torchrun's variables were set by something that does not say
// it: all, if rank 0 is where no other host can reach it.
func masterIsHere(e *environment, l *Launch) int {
	master := e.get("MASTER_ADDR")
	if a, err := netip.ParseAddr(master); master == "localhost" || err == nil && a.IsLoopback() {
		return l.Size
	}
	return -1
}

// masterStore returns torchrun's: where rank 0 is to listen. When torchrun keeps a store there for its own purposes,
// that is the port after it.
func masterStore(e *environment, _ *Launch) (address, why string) {
	host, port := e.text("MASTER_ADDR"), e.number("MASTER_PORT", 1, 65534)
	why = "MASTER_ADDR and MASTER_PORT"
	if e.flag("TORCHELASTIC_USE_AGENT_STORE") {
		port++
		why += ", and the port after it, because torchrun itself has MASTER_PORT (TORCHELASTIC_USE_AGENT_STORE)"
	}
	return tcpAddress(host, port), "rank 0 listens at " + why
}

func tcpAddress(host string, port int) string {
	return "tcp://" + net.JoinHostPort(host, strconv.Itoa(port))
}

// text returns a variable that has to be set.
func (e *environment) text(name string) string {
	if e.get(name) == "" {
		e.fail("%s is not set", name)
	}
	return e.get(name)
}
