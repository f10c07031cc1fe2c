package launchers

import (
	"crypto/rand"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"testing"
)

// byHand returns n ranks in one place. Variables of each are as set says.
func byHand(p *place, n int, set func(rank int) []string) (ranks []*place) {
	for rank := range n {
		ranks = append(ranks, p.with(set(rank)...))
	}
	return ranks
}

// secret returns a variable that names a file with a new secret.
func secret(t *testing.T) string {
	t.Helper()
	var bytes [32]byte
	_, _ = rand.Read(bytes[:])
	name := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(name, bytes[:], 0o600); err != nil {
		t.Fatal(err)
	}
	return "COLL_SECRET_FILE=" + name
}

// freePort returns a port of this host that nobody listens at now.
func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

// torchrun returns the variables that it sets for one of n ranks on one host, which meet at a port of it.
func torchrun(rank, n, port int) []string {
	return []string{fmt.Sprint("RANK=", rank), fmt.Sprint("WORLD_SIZE=", n), fmt.Sprint("LOCAL_RANK=", rank),
		fmt.Sprint("LOCAL_WORLD_SIZE=", n), "MASTER_ADDR=127.0.0.1", fmt.Sprint("MASTER_PORT=", port)}
}

// TestTorchrun sets torchrun's variables by hand.
func TestTorchrun(t *testing.T) {
	port := freePort(t)
	ranks := byHand(here(t), 3, func(rank int) []string { return torchrun(rank, 3, port) })
	wantAnswers(t, together(t, ranks, program("rollcall")), []int{0, 1, 2})
}

// TestTwoJobs run at the same time, and keep apart.
func TestTwoJobs(t *testing.T) {
	p := here(t)
	for _, port := range []int{freePort(t), freePort(t)} {
		t.Run("", func(t *testing.T) {
			t.Parallel()
			ranks := byHand(p, 2, func(rank int) []string { return torchrun(rank, 2, port) })
			wantAnswers(t, together(t, ranks, program("rollcall")), []int{0, 1})
		})
	}
}

// TestKubernetes sets the variables of an indexed job by hand, and says where the ranks meet: here are no pods, so
// there is no service with their names.
func TestKubernetes(t *testing.T) {
	store, key := fmt.Sprint("COLL_STORE=tcp://127.0.0.1:", freePort(t)), secret(t)
	ranks := byHand(here(t), 3, func(rank int) []string {
		return []string{fmt.Sprint("JOB_COMPLETION_INDEX=", rank), "COLL_SIZE=3", fmt.Sprint("HOSTNAME=train-", rank), store,
			key}
	})
	wantAnswers(t, together(t, ranks, program("rollcall")), []int{0, 1, 2})
}

// folder returns the address of a store that is a folder.
func folder(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	return "file://" + dir
}

// TestFile has the ranks meet in a folder.
func TestFile(t *testing.T) {
	store, key := "COLL_STORE="+folder(t), secret(t)
	ranks := byHand(here(t), 3, func(rank int) []string {
		return []string{fmt.Sprint("COLL_RANK=", rank), "COLL_SIZE=3", store, key}
	})
	wantAnswers(t, together(t, ranks, program("rollcall")), []int{0, 1, 2})
}

// TestStandaloneStore has the ranks meet at a store that none of them keeps.
func TestStandaloneStore(t *testing.T) {
	address, key := fmt.Sprint("127.0.0.1:", freePort(t)), secret(t)
	p := here(t).with("COLL_JOB=standalone", "COLL_STORE=tcp://"+address, key)
	p.daemon(program("collrun"), "store", "-listen", address)
	waitListening(t, address)
	ranks := byHand(p, 3, func(rank int) []string {
		return []string{fmt.Sprint("COLL_RANK=", rank), "COLL_SIZE=3"}
	})
	wantAnswers(t, together(t, ranks, program("rollcall")), []int{0, 1, 2})
}
