package identity

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
)

const (
	blockType   = "PRIVATE KEY"
	maxFileSize = 64 << 10
)

// Load reads a key from a PEM file with one PKCS#8 block, as Save and OpenSSL write it. It refuses a file that others
// may read or write.
func Load(path string) (*Key, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("identity: load a key: %w", err)
	}
	defer f.Close()
	stat, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("identity: load a key: %w", err)
	}
	// Windows has no such bits: Go invents them.
	if open := stat.Mode().Perm() & 0o077; open != 0 && runtime.GOOS != "windows" {
		return nil, fmt.Errorf("identity: %s: others have access to this key (mode %04o): chmod 600 it", path, stat.Mode().Perm())
	}
	text, err := io.ReadAll(io.LimitReader(f, maxFileSize))
	if err != nil {
		return nil, fmt.Errorf("identity: load a key: %w", err)
	}
	key, err := decodePEM(text)
	if err != nil {
		return nil, fmt.Errorf("identity: %s: %w", path, err)
	}
	return key, nil
}

// Save writes k to a new file that only its owner may read. A file that exists is never overwritten, because a lost key is a
// lost address: the error is then fs.ErrExist. Nobody ever sees half a file.
func (k *Key) Save(path string) error {
	text, err := k.encodePEM()
	if err != nil {
		return err
	}
	temporary := filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+"."+rand.Text())
	f, err := os.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("identity: save a key: %w", err)
	}
	defer os.Remove(temporary)
	_, err = f.Write(text)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return fmt.Errorf("identity: save a key: %w", err)
	}
	err = os.Link(temporary, path)
	if err != nil && !errors.Is(err, fs.ErrExist) {
		err = renameNew(temporary, path)
	}
	if err != nil {
		return fmt.Errorf("identity: save a key: %w", err)
	}
	return nil
}

// renameNew stands in for os.Link where the file system has no links.
func renameNew(from, to string) error {
	if _, err := os.Lstat(to); err == nil {
		return &fs.PathError{Op: "rename", Path: to, Err: fs.ErrExist}
	}
	return os.Rename(from, to)
}

// LoadOrNew loads the key at path, or draws one and saves it there if there is no such file. Two programs that do this at
// once get the same key.
func LoadOrNew(path string) (*Key, error) {
	key, err := Load(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return key, err
	}
	if key, err = New(); err != nil {
		return nil, err
	}
	err = key.Save(path)
	if errors.Is(err, fs.ErrExist) {
		return Load(path)
	}
	if err != nil {
		return nil, err
	}
	return key, nil
}

func (k *Key) encodePEM() ([]byte, error) {
	der, err := x509.MarshalPKCS8PrivateKey(k.private)
	if err != nil {
		return nil, fmt.Errorf("identity: encode a key: %w", err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: blockType, Bytes: der}), nil
}

func decodePEM(text []byte) (*Key, error) {
	block, _ := pem.Decode(text)
	if block == nil {
		return nil, errors.New("no PEM block")
	}
	if block.Type != blockType {
		return nil, fmt.Errorf("PEM block is %q, not %q", block.Type, blockType)
	}
	parsed, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, fmt.Errorf("read PKCS#8: %w", err)
	}
	private, ok := parsed.(ed25519.PrivateKey)
	if !ok {
		return nil, fmt.Errorf("holds a %T, not an Ed25519 key", parsed)
	}
	return fromPrivate(private), nil
}
