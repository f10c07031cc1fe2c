package fast

import (
	"cmp"
	"errors"
	"os"

	"github.com/collgen/collgen/fast/internal/launch"
	"github.com/collgen/collgen/fast/internal/secure"
)

// FromEnv takes everything from the environment, as launchers set it: see Detect. Something without a meaning is an
// error of Init and Join, which names the variables. That no launcher has set the rank is one of Init only, unless
// WithRank does: the rest of what COLL_* says counts all the same.
func FromEnv() []InitOption {
	l, err := Detect()
	var rankless error
	if errors.Is(err, ErrNoLauncher) || errors.Is(err, launch.ErrIncomplete) {
		rankless = err
		var s launch.Launch
		s, err = launch.Settings(os.Getenv)
		l = Launch(s)
	}
	if err != nil {
		return []InitOption{func(p *initConfig) { p.err, p.rankless = cmp.Or(p.err, err), rankless }}
	}
	return append(l.options(), func(p *initConfig) { p.rankless = rankless })
}

// options returns those of Init that say the same.
func (l Launch) options() []InitOption {
	opts := []InitOption{
		WithRank(l.Rank, l.Size), WithJob(l.Job), WithEpoch(l.Epoch), WithTransport(l.Transport), WithInterface(l.Interface), WithRDMADevice(l.RDMA),
		WithTraceDir(l.TraceDir), WithEventDir(l.EventDir), WithTuningFile(l.Tune), WithStoreAddress(l.Store),
		func(p *initConfig) { p.host, p.storeless = l.Host, l.Reason },
	}
	if l.SecretFile != "" {
		opts = append(opts, WithSecretFile(l.SecretFile))
	}
	if l.SecretFD >= 0 {
		opts = append(opts, withSecretFrom(func() (secure.Secret, error) { return secure.ReadSecretFD(l.SecretFD) }))
	}
	if l.Encrypt {
		opts = append(opts, WithEncryption())
	}
	if l.NoCMA {
		opts = append(opts, WithoutCMA())
	}
	if l.HeartbeatTimeout > 0 {
		opts = append(opts, WithHeartbeatTimeout(l.HeartbeatTimeout))
	}
	if l.Slow > 0 {
		opts = append(opts, WithSlowCall(l.Slow))
	}
	return opts
}
