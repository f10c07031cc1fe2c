//go:build linux

package launchers

import (
	"crypto/rand"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// slurmConf is a cluster of one node, which takes it for larger than it is and needs no control groups. DIR is where
// all of its files are; its network is its own, so ports are free.
const slurmConf = `ClusterName=test
SlurmctldHost=HOST(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=DIR/munge.socket
CredType=cred/munge
StateSaveLocation=DIR/state
SlurmdSpoolDir=DIR/spool
SlurmctldPidFile=DIR/slurmctld.pid
SlurmdPidFile=DIR/slurmd.pid
SlurmdParameters=config_overrides
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
MpiDefault=none
MailProg=/bin/true
ReturnToService=2
NodeName=HOST NodeAddr=127.0.0.1 CPUs=16 State=UNKNOWN
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP
`

// newSlurm returns a place where srun works: a host of its own with munged, slurmctld and slurmd, which end with it.
func newSlurm(t *testing.T) *place {
	t.Helper()
	needsRoot(t)
	needs(t, "munged", "slurmctld", "slurmd", "srun", "sinfo", "nsenter", "ip")
	name, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	name, _, _ = strings.Cut(name, ".")
	dir := slurmFiles(t, name)
	h := newHost(t, "slurm")
	h.mustSetUp("ip link add name eth0 type bridge") // with no address but 127.0.0.1, names are not looked up
	h.mustSetUp("ip address add 10.77.0.1/24 dev eth0")
	h.mustSetUp("ip link set eth0 up")
	p := here(t).with("SLURM_CONF=" + filepath.Join(dir, "slurm.conf")).on(h)
	in := func(file string) string { return filepath.Join(dir, file) }
	p.daemon("munged", "--foreground", "--key-file="+in("munge.key"), "--socket="+in("munge.socket"),
		"--pid-file="+in("munged.pid"), "--log-file="+in("munged.log"), "--seed-file="+in("munged.seed"))
	p.waitFor("munged", "test", "-S", in("munge.socket"))
	p.daemon("slurmctld", "-D")
	p.daemon("slurmd", "-D", "-N", name)
	p.waitFor("slurmd", "sh", "-c", "sinfo --noheader --format=%t | grep -qx idle")
	return p
}

// slurmFiles makes the folder of a cluster: its configuration, and a key for munge.
func slurmFiles(t *testing.T, host string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for parent := dir; parent != os.TempDir() && parent != "/"; parent = filepath.Dir(parent) {
		if err := os.Chmod(parent, 0o711); err != nil { // munge wants all users to reach its socket
			t.Fatal(err)
		}
	}
	key := make([]byte, 128)
	_, _ = rand.Read(key)
	conf := strings.NewReplacer("DIR", dir, "HOST", host).Replace(slurmConf)
	for name, text := range map[string]string{"munge.key": string(key), "slurm.conf": conf} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"state", "spool"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestSlurm starts rollcall under srun, with the variables of a step alone and with Slurm's own store (PMI-2).
func TestSlurm(t *testing.T) {
	p := newSlurm(t)
	for flag, name := range map[string]string{"--mpi=none": "Slurm", "--mpi=pmi2": "PMI-1"} {
		t.Run(flag, func(t *testing.T) {
			inside := *p
			inside.t = t
			under(&inside, name, "srun", flag, "--ntasks=3")
		})
	}
}
