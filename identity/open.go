package identity

import (
	"crypto/ed25519"
	"crypto/rand"
	"errors"
	"fmt"

	"github.com/hyroute/hyroute/runtime/address"
)

// MinNonce and MaxNonce bound the length of a nonce in characters; 22 hold 128 bits.
const (
	MinNonce = 22
	MaxNonce = 128
)

var (
	// ErrSignature says that a signature is missing, malformed, or not by that key over that text.
	ErrSignature = errors.New("identity: signature does not verify")
	// ErrOtherKey says that a key is not the one that the runtime URL names.
	ErrOtherKey = errors.New("identity: the key is not the one that the runtime URL names")
	// ErrOtherNonce says that a proof is over another nonce.
	ErrOtherNonce = errors.New("identity: the proof is over another nonce")
)

// A Proof shows a Message Node that who opens a runtime holds its key. The fields are as they travel.
type Proof struct {
	Key       string // base64url of the public key
	Signature string // base64url of 64 bytes
	Nonce     string // the one that the node gave
}

// Nonce draws a nonce: 192 random bits in 32 characters.
func Nonce() string {
	var b [24]byte
	rand.Read(b[:]) // never fails
	return keyEncoding.EncodeToString(b[:])
}

// ProveOpen signs that k opens runtime at the node of domain in answer to nonce. domain must be the one that the caller wants to
// talk to, not the one that the node claims: that keeps a node from passing the proof on to another one.
func (k *Key) ProveOpen(nonce string, runtime address.Address, domain string) (Proof, error) {
	if err := checkNonce(nonce); err != nil {
		return Proof{}, err
	}
	if err := k.check(runtime); err != nil {
		return Proof{}, err
	}
	return Proof{Key: k.public, Signature: k.sign(openText(nonce, runtime, domain)), Nonce: nonce}, nil
}

// VerifyOpen checks that p proves that who opens runtime holds its key. nonce is the one that was given on this socket, domain
// the node's own. The error is ErrOtherNonce, ErrOtherKey, ErrSignature, or says what is malformed.
func VerifyOpen(p Proof, nonce string, runtime address.Address, domain string) error {
	if p.Nonce != nonce {
		return ErrOtherNonce
	}
	if err := checkNonce(nonce); err != nil {
		return err
	}
	return verify(p.Key, p.Signature, runtime, openText(nonce, runtime, domain))
}

func openText(nonce string, runtime address.Address, domain string) string {
	return "hyroute open\n" + nonce + "\n" + runtime.String() + "\n" + domain
}

func checkNonce(nonce string) error {
	if len(nonce) < MinNonce || len(nonce) > MaxNonce {
		return fmt.Errorf("identity: nonce has %d characters: wanted %d to %d", len(nonce), MinNonce, MaxNonce)
	}
	for i := 0; i < len(nonce); i++ {
		c := nonce[i]
		if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_') {
			return fmt.Errorf("identity: nonce holds %q, which is not base64url", c)
		}
	}
	return nil
}

// check says whether runtime is the URL of k's runtime at some node.
func (k *Key) check(runtime address.Address) error {
	if !runtime.IsRuntime() {
		return fmt.Errorf("identity: %q is no runtime URL", runtime)
	}
	if runtime.ID() != k.id {
		return ErrOtherKey
	}
	return nil
}

func (k *Key) sign(text string) string {
	return keyEncoding.EncodeToString(ed25519.Sign(k.private, []byte(text)))
}

// verify checks that signature is over text by key, and that key is the one that runtime names.
func verify(key, signature string, runtime address.Address, text string) error {
	if !runtime.IsRuntime() {
		return fmt.Errorf("identity: %q is no runtime URL", runtime)
	}
	public, err := readPublic(key)
	if err != nil {
		return err
	}
	if runtime.ID() != fingerprint(public) {
		return ErrOtherKey
	}
	mark, err := keyEncoding.DecodeString(signature)
	if err != nil || len(mark) != ed25519.SignatureSize || !ed25519.Verify(public, []byte(text), mark) {
		return ErrSignature
	}
	return nil
}
