package identity

import (
	"fmt"
	"strconv"

	"github.com/hyroute/hyroute/runtime/address"
)

// A Signal is what two runtimes tell each other to set up a peer connection (docs/protocol.md section 7). The signature covers
// every field.
type Signal struct {
	From, To address.Address // runtime URLs, not their components
	Kind     string          // lower-case letters: invite, accept, ...
	Attempt  uint32
	Value    string // any text
}

// SignSignal gives the public key and the signature that travel with s, as base64url. s.From must be k's runtime.
func (k *Key) SignSignal(s Signal) (key, signature string, err error) {
	if err := s.check(); err != nil {
		return "", "", err
	}
	if err := k.check(s.From); err != nil {
		return "", "", err
	}
	return k.public, k.sign(s.text()), nil
}

// VerifySignal checks that key signed s and is the key that s.From names. The error is ErrOtherKey, ErrSignature, or says what is
// malformed.
func VerifySignal(s Signal, key, signature string) error {
	if err := s.check(); err != nil {
		return err
	}
	return verify(key, signature, s.From, s.text())
}

func (s Signal) check() error {
	if !s.To.IsRuntime() {
		return fmt.Errorf("identity: signal to %q, which is no runtime URL", s.To)
	}
	if s.Kind == "" {
		return fmt.Errorf("identity: signal without a kind")
	}
	for i := 0; i < len(s.Kind); i++ {
		if c := s.Kind[i]; c < 'a' || c > 'z' {
			return fmt.Errorf("identity: kind of signal %q: only lower-case letters may stand in it", s.Kind)
		}
	}
	return nil
}

func (s Signal) text() string {
	return "hyroute signal\n" + s.From.String() + "\n" + s.To.String() + "\n" + s.Kind + "\n" +
		strconv.FormatUint(uint64(s.Attempt), 10) + "\n" + s.Value
}
