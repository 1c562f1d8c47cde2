package identity

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"
	"encoding/base64"
	"errors"
	"fmt"

	"github.com/hyroute/hyroute/runtime/address"
)

// IDLength is how many characters an id has.
const IDLength = 32

const fingerprintSize = 20

var (
	idEncoding  = base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)
	keyEncoding = base64.RawURLEncoding.Strict()
)

// A Key is the secret that makes a runtime the one it says it is. It is safe for concurrent use.
type Key struct {
	private ed25519.PrivateKey
	public  string
	id      string
}

// New draws a key from the system's randomness.
func New() (*Key, error) {
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("identity: draw a key: %w", err)
	}
	return fromPrivate(private), nil
}

// FromSeed makes the key of a 32-byte seed (RFC 8032). Equal seeds give equal keys, so a seed is as secret as a key.
func FromSeed(seed []byte) (*Key, error) {
	if len(seed) != ed25519.SeedSize {
		return nil, fmt.Errorf("identity: a seed has %d bytes, not %d", ed25519.SeedSize, len(seed))
	}
	return fromPrivate(ed25519.NewKeyFromSeed(seed)), nil
}

func fromPrivate(private ed25519.PrivateKey) *Key {
	public := private.Public().(ed25519.PublicKey)
	return &Key{private: private, public: keyEncoding.EncodeToString(public), id: fingerprint(public)}
}

// ID is the fingerprint of the public key: 32 characters.
func (k *Key) ID() string { return k.id }

// Public is the public key as it travels: base64url without padding.
func (k *Key) Public() string { return k.public }

// RuntimeURL is the URL of this key's runtime at the Message Node of domain. It fails if domain can not be the host of an address.
func (k *Key) RuntimeURL(domain string) (address.Address, error) {
	url, err := address.Parse("runtime://" + domain + "/" + k.id)
	if err != nil {
		return address.Address{}, fmt.Errorf("identity: domain: %w", err)
	}
	if url.ID() != k.id {
		return address.Address{}, fmt.Errorf("identity: domain %q holds a slash", domain)
	}
	return url, nil
}

// Fingerprint is the id that belongs to a public key as it travels.
func Fingerprint(public string) (string, error) {
	key, err := readPublic(public)
	if err != nil {
		return "", err
	}
	return fingerprint(key), nil
}

func fingerprint(public ed25519.PublicKey) string {
	sum := sha256.Sum256(public)
	return idEncoding.EncodeToString(sum[:fingerprintSize])
}

func readPublic(public string) (ed25519.PublicKey, error) {
	key, err := keyEncoding.DecodeString(public)
	if err != nil || len(key) != ed25519.PublicKeySize {
		return nil, errors.New("identity: key: not 32 bytes in base64url without padding")
	}
	return key, nil
}
