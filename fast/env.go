package fast

import (
	"cmp"

	"github.com/collgen/collgen/fast/internal/secure"
)

// FromEnv takes everything from the environment, as launchers set it: see Detect. If the environment says nothing, or
// something without a meaning, that is an error of Init, which names the variables.
func FromEnv() []InitOption {
	l, err := Detect()
	if err != nil {
		return []InitOption{func(p *place) { p.err = cmp.Or(p.err, err) }}
	}
	return l.options()
}

// options are those of Init that say the same.
func (l Launch) options() []InitOption {
	opts := []InitOption{
		WithRank(l.Rank, l.Size), WithJob(l.Job), WithEpoch(l.Epoch), WithTransport(l.Transport), WithInterface(l.Interface),
		WithTraceDir(l.TraceDir), WithStoreAddress(l.Store),
		func(p *place) { p.host, p.storeless = l.Host, l.Reason },
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
	if l.Freeze > 0 {
		opts = append(opts, WithFreeze(l.Freeze))
	}
	return opts
}
