//go:build unix && !aix && !solaris

package main

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
)

// place is what the ranks of one job have in common: how they tell it from others, and find each other.
type place struct {
	job    string // its name, which no other job has
	port   int    // of MASTER_PORT
	secret string // the file of its secret
}

// secretBytes is the length of a job's secret.
const secretBytes = 32

// newPlace makes the secret of a job that has the directory to itself.
func newPlace(dir string, port int) (*place, error) {
	p := &place{job: "collrun-" + rand.Text(), port: port, secret: filepath.Join(dir, "secret")}
	var secret [secretBytes]byte
	_, _ = rand.Read(secret[:]) // it never fails
	if err := os.WriteFile(p.secret, []byte(hex.EncodeToString(secret[:])+"\n"), 0o600); err != nil {
		return nil, fmt.Errorf("the job's secret: %w", err)
	}
	return p, nil
}

// store returns where the ranks find each other.
func (p *place) store() string {
	if runtime.GOOS == "linux" {
		return "local"
	}
	return fmt.Sprint("tcp://127.0.0.1:", p.port)
}

// anotherJobs are variables that could not be right for a job of collrun's own: they are those of a job that collrun
// itself is a rank of.
var anotherJobs = []string{"COLL_EPOCH", "COLL_SECRET_FD"}

// environment returns what rank index finds in its environment.
func (p *place) environment(index int, o *options) []string {
	i, n := strconv.Itoa(index), strconv.Itoa(o.n)
	env := slices.DeleteFunc(os.Environ(), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return slices.Contains(anotherJobs, name)
	})
	return append(env, append([]string{
		"COLL_RANK=" + i, "COLL_LOCAL_RANK=" + i, "COLL_SIZE=" + n, "COLL_LOCAL_SIZE=" + n,
		"COLL_JOB=" + p.job, "COLL_STORE=" + p.store(), "COLL_SECRET_FILE=" + p.secret,
		"RANK=" + i, "LOCAL_RANK=" + i, "WORLD_SIZE=" + n, "LOCAL_WORLD_SIZE=" + n,
		"MASTER_ADDR=127.0.0.1", "MASTER_PORT=" + strconv.Itoa(p.port),
	}, o.env...)...)
}
