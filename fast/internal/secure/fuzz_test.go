package secure

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/collgen/collgen/fast/internal/wire"
)

// FuzzPreamble: no preamble and answer but those of who has the secret, and knows the challenge, are taken.
func FuzzPreamble(f *testing.F) {
	cred, certified := FromSecret(secretOf("ours")), FromCertificate(newAuthority(f, "ours").certificate(f, ordinary("x")),
		nil)
	challenge := bytes.Repeat([]byte{7}, challengeBytes)
	says := func(c Credentials, me Identity, challenge []byte, private bool) []byte {
		b := encodePreamble(c, me, 1, private)
		mac := c.mac(client, b, challenge)
		return append(b, mac[:]...)
	}
	for _, private := range []bool{false, true} {
		good := says(cred, process(1), challenge, private)
		f.Add(good, private)
		f.Add(good, !private)
		f.Add(says(cred, process(1), make([]byte, challengeBytes), private), private)
		f.Add(says(certified, process(1), challenge, private), private)
		f.Add(says(FromSecret(secretOf("others")), process(1), challenge, private), private)
		f.Add(says(cred, Identity{Job: "train-8"}, challenge, private), private)
		f.Add([]byte(magic), private)
		for i := range good {
			changed := bytes.Clone(good)
			changed[i] ^= 0x80
			f.Add(changed, private)
		}
	}
	f.Fuzz(func(t *testing.T, b []byte, private bool) {
		good := says(cred, process(1), challenge, private)
		b, answer := b[:min(len(b), preambleBytes)], b[min(len(b), preambleBytes):]
		err := checkPreamble(b, cred, private)
		if err == nil {
			err = checkAnswer(b, challenge, answer, cred, process(1))
		}
		if (err == nil) != bytes.Equal(append(b, answer...), good) {
			t.Errorf("%x, %x: %v", b, answer, err)
		}
		if err != nil && !isReason(err) && !errors.Is(err, ErrBroken) {
			t.Errorf("%x, %x: no reason: %v", b, answer, err)
		}
		if checkPreamble(b, certified, false) == nil && len(b) != preambleBytes {
			t.Errorf("%x is taken", b)
		}
	})
}

// FuzzReply: what is refused has a reason that can be printed, and a refusal survives being sent. A challenge is what
// the server sends as one, and no refusal is.
func FuzzReply(f *testing.F) {
	for _, reason := range reasons {
		f.Add(encodeReply(reason))
	}
	f.Add(encodeReply(mismatch(ErrWrongSize, 4, 5)))
	f.Add(encodeReply(errors.New(strings.Repeat("long", 100))))
	f.Add([]byte("HTTP/1.1 400 Bad Request"))
	f.Add(encodeChallenge(bytes.Repeat([]byte{7}, challengeBytes)))
	f.Add(encodeChallenge(bytes.Repeat([]byte{7}, challengeBytes+1)))
	f.Fuzz(func(t *testing.T, b []byte) {
		challenge, refused := decodeChallenge(b)
		if refused == nil && !bytes.Equal(b, encodeChallenge(challenge[:challengeBytes])) {
			t.Errorf("%x is a challenge", b)
		}
		err := decodeReply(b)
		if refused != nil && fmt.Sprint(refused) != fmt.Sprint(err) {
			t.Errorf("%x in place of a challenge: %v, want %v", b, refused, err)
		}
		if err == nil {
			if !bytes.Equal(b, encodeReply(nil)) {
				t.Errorf("%x is taken", b)
			}
			return
		}
		if !isReason(err) && !errors.Is(err, ErrBroken) {
			t.Errorf("%x: no reason: %v", b, err)
		}
		if strings.ContainsFunc(err.Error(), func(r rune) bool { return r < ' ' || r > '~' }) {
			t.Errorf("%q cannot be printed", err)
		}
		again := decodeReply(encodeReply(err))
		for _, reason := range reasons[1:] {
			if errors.Is(err, reason) && !errors.Is(again, reason) {
				t.Errorf("%v became %v", err, again)
			}
		}
	})
}

// FuzzHello: a hello that is taken means what it says.
func FuzzHello(f *testing.F) {
	h := Hello{From: 3, To: 1, Purpose: Data, Encrypt: true, Comm: 1 << 63, Token: [16]byte{1, 15: 2}}
	f.Add(encodeHello(h, process(3)))
	f.Add(encodeHello(Hello{To: 1, Purpose: Control, From: StoreProcess}, process(0)))
	f.Add(encodeHello(Hello{To: 1, Purpose: 9}, process(0)))
	f.Add([]byte{})
	for i := range helloBytes {
		changed := encodeHello(h, process(3))
		changed[i] ^= 0x80
		f.Add(changed)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		got, peer, err := decodeHello(b, process(1))
		if err != nil {
			if !isReason(err) {
				t.Errorf("%x: no reason: %v", b, err)
			}
			return
		}
		if again := encodeHello(got, peer); !bytes.Equal(again, b) {
			t.Errorf("%x became %x", b, again)
		}
		if got.To != 1 || got.From == 1 || peer != (Identity{"train-7", 3, got.From, 4}) || peer.check() != nil {
			t.Errorf("%+v, %v", got, peer)
		}
	})
}

// FuzzSecretFile: the file's bytes or digits are the secret.
func FuzzSecretFile(f *testing.F) {
	for _, x := range secretFiles {
		f.Add([]byte(x.text))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		s, err := parseSecret(b)
		if err != nil {
			return
		}
		if len(b) != 32 && len(b) != 64 && len(b) != 65 && len(b) != 66 || s == (Secret{}) {
			t.Errorf("%q is a secret", b)
		}
		if len(b) == 32 && !bytes.Equal(b, s[:]) {
			t.Errorf("%q became another one", b)
		}
	})
}

// TestReasons: the places of reasons are part of the protocol.
func TestReasons(t *testing.T) {
	for status, want := range map[int]error{1: ErrWrongVersion, 2: ErrWrongMode, 3: ErrWrongSecret, 4: ErrWrongCertificate,
		5: ErrWrongJob, 6: ErrStaleEpoch, 7: ErrWrongSize, 8: ErrWrongRank, 9: wire.ErrFenced, 10: ErrBusy, 11: ErrRefused} {
		if reasons[status] != want {
			t.Errorf("%d is %v, want %v", status, reasons[status], want)
		}
		if n := strings.Count(strings.Join(words(byPriority[:]), "\n")+"\n", want.Error()+"\n"); n != 1 {
			t.Errorf("%v has %d places in the counts of failures", want, n)
		}
	}
	if len(reasons) != 12 {
		t.Errorf("%d reasons", len(reasons))
	}
}

func words(errs []error) (words []string) {
	for _, err := range errs {
		words = append(words, err.Error())
	}
	return words
}
