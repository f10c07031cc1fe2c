package fast

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"net/url"
	"os"
	"slices"
	"strings"

	"github.com/collgen/collgen/fast/internal/launch"
	"github.com/collgen/collgen/fast/internal/secure"
	"github.com/collgen/collgen/fast/internal/store"
	"github.com/collgen/collgen/fast/internal/wire"
)

// meet opens the store, and has the credentials that are given or, if none are, made from the secret that it hands out.
func (p *initConfig) meet(ctx context.Context) (Store, secure.Credentials, error) {
	cred, err := p.credentials()
	if err != nil {
		return nil, nil, err
	}
	s, err := p.openStore(ctx, cred)
	if err != nil || cred != nil {
		return s, cred, err
	}
	cred, err = askSecret(ctx, s)
	if err != nil {
		p.closeStore(s)
		return nil, nil, err
	}
	return s, cred, nil
}

// closeStore closes a store that is not the caller's.
func (p *initConfig) closeStore(s Store) {
	if c, ok := s.(io.Closer); ok && p.store == nil {
		_ = c.Close()
	}
}

// credentials returns those that the options give; nil if they give none.
func (p *initConfig) credentials() (secure.Credentials, error) {
	switch {
	case p.certified != nil:
		return p.certified, nil
	case p.secretFrom != nil:
		s, err := p.secretFrom()
		if err != nil {
			return nil, err
		}
		return secure.FromSecret(s), nil
	}
	return nil, nil
}

// sealed reports whether the job's secret comes from a store of ours or the launcher's, which keeps it from all others.
func (p *initConfig) sealed() bool {
	return p.certified == nil && p.secretFrom == nil && p.store == nil
}

// checkSecret returns the secret that a user or a store gives.
func checkSecret(secret []byte) (s secure.Secret, err error) {
	if len(secret) != len(s) {
		return s, wire.Refuse("Init", "a secret of %d bytes, want %d", len(secret), len(s))
	}
	if copy(s[:], secret); s == (secure.Secret{}) {
		return s, wire.Refuse("Init", "a secret of zeros, which is none")
	}
	return s, nil
}

// askSecret has the store hand out the job's secret.
func askSecret(ctx context.Context, s Store) (secure.Credentials, error) {
	keeper, ok := s.(interface {
		Secret(ctx context.Context) ([]byte, error)
	})
	if !ok {
		return nil, wire.Refuse("Init", noSecret)
	}
	secret, err := keeper.Secret(ctx)
	if err != nil {
		return nil, fmt.Errorf("the job's secret: %w", err)
	}
	checked, err := checkSecret(secret)
	if err != nil {
		return nil, err
	}
	return secure.FromSecret(checked), nil
}

const noSecret = "ranks have to prove who they are, and no secret is given: put 32 random bytes into a file that only " +
	"this user can read, on every host, and name it by COLL_SECRET_FILE or WithSecretFile"

// checkStoreAddress refuses what openStore does not know.
func checkStoreAddress(address string) error {
	scheme, _, _ := strings.Cut(address, "://")
	if !slices.Contains([]string{"", launch.Local, launch.PMI, "file", "tcp"}, scheme) {
		return wire.Refuse("Init", "a store at %q, want local, tcp://host:port or file:///directory", address)
	}
	return nil
}

// openStore returns the store that the options name.
func (p *initConfig) openStore(ctx context.Context, cred secure.Credentials) (Store, error) {
	job := store.Job{Name: p.job, Epoch: p.epoch, Rank: p.rank, Size: p.size, Log: p.logger()}
	scheme, rest, _ := strings.Cut(p.storeAddress, "://")
	switch {
	case p.store != nil:
		return p.store, nil
	case p.size == 1:
		return store.NewMemory(), nil
	case p.storeAddress == "" && p.storeless != "":
		return nil, wire.Refuse("Init", "nothing says where the ranks find each other: %s", p.storeless)
	case p.storeAddress == "" || p.storeAddress == launch.Local:
		return store.NewLocal(ctx, job)
	case p.storeAddress == launch.PMI:
		return launch.OpenPMI(ctx, os.Getenv, p.rank)
	case scheme == "file":
		return store.NewFile(rest)
	case cred == nil:
		return nil, wire.Refuse("Init", noSecret)
	}
	return store.NewTCP(ctx, rest, cred, job)
}

// keys returns those of this attempt at the job, in a store that other jobs may use too: of what a process says in a
// round. A name that is long is hashed.
func (p *initConfig) keys() func(round string, process int) string {
	name := url.PathEscape(p.job)
	if len(name) > 80 || name == "" {
		name = fmt.Sprintf("%x", sha256.Sum256([]byte(p.job)))
	}
	return func(round string, process int) string {
		return fmt.Sprintf("collgen/%s/%d/%s/%d", name, p.epoch, round, process)
	}
}
