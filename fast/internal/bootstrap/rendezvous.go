package bootstrap

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/collgen/collgen/fast/internal/launch"
	"github.com/collgen/collgen/fast/internal/secure"
	"github.com/collgen/collgen/fast/internal/store"
	"github.com/collgen/collgen/fast/internal/wire"
)

// rendezvous opens the store, and returns it with the job's credentials: those of the options or, without any, those
// that the store hands out.
func (c *Config) rendezvous(ctx context.Context) (store.Store, secure.Credentials, error) {
	cred, err := c.credentials()
	if err != nil {
		return nil, nil, err
	}
	s, err := c.openStore(ctx, cred)
	if err != nil || cred != nil {
		return s, cred, err
	}
	cred, err = requestSecret(ctx, s)
	if err != nil {
		c.closeStore(s)
		return nil, nil, err
	}
	return s, cred, nil
}

// closeStore closes a store that this package has opened.
func (c *Config) closeStore(s store.Store) {
	if closer, ok := s.(io.Closer); ok && c.Store == nil {
		_ = closer.Close()
	}
}

// credentials returns those of the options; nil without any.
func (c *Config) credentials() (secure.Credentials, error) {
	switch {
	case c.Certificate != nil:
		return c.Certificate, nil
	case c.SecretFrom != nil:
		s, err := c.SecretFrom()
		if err != nil {
			return nil, err
		}
		return secure.FromSecret(s), nil
	}
	return nil, nil
}

// SecretFromStore reports whether the job's secret comes from a store of ours or of the launcher. No process that
// joins later can get it.
func (c *Config) SecretFromStore() bool {
	return c.Certificate == nil && c.SecretFrom == nil && c.Store == nil
}

// ParseSecret returns the secret in the bytes that a user or a store gives.
func ParseSecret(secret []byte) (s secure.Secret, err error) {
	if len(secret) != len(s) {
		return s, wire.Refuse("Init", "a secret of %d bytes, want %d", len(secret), len(s))
	}
	if copy(s[:], secret); s == (secure.Secret{}) {
		return s, wire.Refuse("Init", "a secret of zeros, which is none")
	}
	return s, nil
}

// requestSecret returns the credentials made from the secret that the store hands out.
func requestSecret(ctx context.Context, s store.Store) (secure.Credentials, error) {
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
	parsed, err := ParseSecret(secret)
	if err != nil {
		return nil, err
	}
	return secure.FromSecret(parsed), nil
}

const noSecret = "ranks have to prove who they are, and no secret is given: put 32 random bytes into a " +
	"file that only this user can read, on every host, and name it by COLL_SECRET_FILE or WithSecretFile"

// checkStoreAddress refuses addresses that openStore does not know.
func checkStoreAddress(address string) error {
	scheme, _, _ := strings.Cut(address, "://")
	if !slices.Contains([]string{"", launch.Local, launch.PMI, "file", "tcp"}, scheme) {
		return wire.Refuse("Init", "a store at %q, want local, tcp://host:port or file:///directory", address)
	}
	return nil
}

// openStore returns the store that the options name.
func (c *Config) openStore(ctx context.Context, cred secure.Credentials) (store.Store, error) {
	job := store.Job{Name: c.Job, Epoch: c.Epoch, Rank: c.Rank, Size: c.Size, Log: c.Logger()}
	scheme, rest, _ := strings.Cut(c.StoreAddress, "://")
	switch {
	case c.Store != nil:
		return c.Store, nil
	case c.Size == 1:
		return store.NewMemory(), nil
	case c.StoreAddress == "" && c.NoStoreReason != "":
		return nil, wire.Refuse("Init", "nothing says where the ranks find each other: %s", c.NoStoreReason)
	case c.StoreAddress == "" || c.StoreAddress == launch.Local:
		return store.NewLocal(ctx, job)
	case c.StoreAddress == launch.PMI:
		return launch.OpenPMI(ctx, os.Getenv, c.Rank)
	case scheme == "file":
		return store.NewFile(rest)
	case cred == nil:
		return nil, wire.Refuse("Init", noSecret)
	}
	return store.NewTCP(ctx, rest, cred, job)
}

// ServeStore keeps the store of the job at l until ctx ends, and closes l. It returns nil then, or the failure of l.
func (c *Config) ServeStore(ctx context.Context, l net.Listener) error {
	cred, err := c.credentials()
	if err == nil && cred == nil {
		err = wire.Refuse("ServeStore", noSecret)
	}
	if err != nil {
		_ = l.Close()
		return err
	}
	return store.ServeTCP(ctx, l, cred, store.Job{Name: c.Job, Epoch: c.Epoch, Log: c.Logger()})
}

// cards are what processes publish about themselves in the store.
type cards struct {
	store.Store
	key       func(round string, process int) string
	process   int // this one
	published []string
}

// keys returns the key of a process's card in a round. Other jobs and other attempts at this one, which may use the
// same store, have other keys. A long name is hashed.
func (c *Config) keys() func(round string, process int) string {
	name := url.PathEscape(c.Job)
	if len(name) > 80 || name == "" {
		name = fmt.Sprintf("%x", sha256.Sum256([]byte(c.Job)))
	}
	return func(round string, process int) string {
		return fmt.Sprintf("collgen/%s/%d/%s/%d", name, c.Epoch, round, process)
	}
}

func (c *cards) publish(ctx context.Context, round string, card []byte) error {
	key := c.key(round, c.process)
	c.published = append(c.published, key)
	return c.Set(ctx, key, card)
}

func (c *cards) fetch(ctx context.Context, round string, process int) ([]byte, error) {
	return c.Get(ctx, c.key(round, process))
}

// withdrawTime bounds the removal of cards.
const withdrawTime = time.Second

// withdraw removes this process's cards as far as the store allows it. It does so even if ctx has ended: otherwise the
// next attempt would find a process that is gone.
func (c *cards) withdraw(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), withdrawTime)
	defer cancel()
	for _, key := range c.published {
		_ = c.Delete(ctx, key)
	}
}
