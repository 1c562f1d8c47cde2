package identity

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"errors"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/hyroute/hyroute/runtime/address"
)

var update = flag.Bool("update", false, "write the signatures of testdata/vectors.json anew")

// vectors are what the TypeScript body checks as well.
type vectors struct {
	Keys []struct {
		Seed   string `json:"seed"` // hex
		Public string `json:"public"`
		ID     string `json:"id"`
	} `json:"keys"`
	Opens []struct {
		Seed      string `json:"seed"`
		Nonce     string `json:"nonce"`
		Runtime   string `json:"runtime"`
		Domain    string `json:"domain"`
		Text      string `json:"text"` // what is signed
		Signature string `json:"signature"`
	} `json:"opens"`
	Signals []struct {
		Seed      string `json:"seed"`
		From      string `json:"from"`
		To        string `json:"to"`
		Kind      string `json:"kind"`
		Attempt   uint32 `json:"attempt"`
		Value     string `json:"value"`
		Text      string `json:"text"` // what is signed
		Signature string `json:"signature"`
	} `json:"signals"`
}

func seedKey(t *testing.T, seed string) *Key {
	t.Helper()
	b, err := hex.DecodeString(seed)
	if err != nil {
		t.Fatal(err)
	}
	key, err := FromSeed(b)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func TestVectors(t *testing.T) {
	const path = "testdata/vectors.json"
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var v vectors
	if err := json.Unmarshal(text, &v); err != nil {
		t.Fatal(err)
	}
	if len(v.Keys) == 0 || len(v.Opens) == 0 || len(v.Signals) == 0 {
		t.Fatal("no vectors")
	}
	same := func(name string, wanted *string, got string) {
		if *update {
			*wanted = got
		}
		if got != *wanted {
			t.Errorf("%s is %q, not %q", name, got, *wanted)
		}
	}
	for i := range v.Keys {
		k := seedKey(t, v.Keys[i].Seed)
		same("public key", &v.Keys[i].Public, k.Public())
		same("id", &v.Keys[i].ID, k.ID())
	}
	for i := range v.Opens {
		o := &v.Opens[i]
		k := seedKey(t, o.Seed)
		url, err := k.RuntimeURL(o.Domain)
		if err != nil {
			t.Fatal(err)
		}
		same("runtime", &o.Runtime, url.String())
		proof, err := k.ProveOpen(o.Nonce, url, o.Domain)
		if err != nil {
			t.Fatal(err)
		}
		same("text of open", &o.Text, openText(o.Nonce, url, o.Domain))
		same("signature of open", &o.Signature, proof.Signature)
		if err := VerifyOpen(proof, o.Nonce, url, o.Domain); err != nil {
			t.Error(err)
		}
	}
	for i := range v.Signals {
		s := &v.Signals[i]
		signal := Signal{From: address.MustParse(s.From), To: address.MustParse(s.To), Kind: s.Kind, Attempt: s.Attempt, Value: s.Value}
		key, signature, err := seedKey(t, s.Seed).SignSignal(signal)
		if err != nil {
			t.Fatal(err)
		}
		same("text of signal", &s.Text, signal.text())
		same("signature of signal", &s.Signature, signature)
		if err := VerifySignal(signal, key, signature); err != nil {
			t.Error(err)
		}
	}
	if *update {
		text, err := json.MarshalIndent(v, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, append(text, '\n'), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// The public key of RFC 8032 section 7.1 test 1 shows that the seed is taken as the RFC takes it.
func TestSeedIsThatOfRFC8032(t *testing.T) {
	k := seedKey(t, "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60")
	public, err := keyEncoding.DecodeString(k.Public())
	if err != nil {
		t.Fatal(err)
	}
	if got := hex.EncodeToString(public); got != "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a" {
		t.Errorf("public key is %s", got)
	}
	if len(k.ID()) != IDLength || k.ID() != strings.ToLower(k.ID()) {
		t.Errorf("id is %q", k.ID())
	}
	if id, err := Fingerprint(k.Public()); err != nil || id != k.ID() {
		t.Errorf("fingerprint is %q, %v", id, err)
	}
}

func TestFromSeedRefusesOtherLengths(t *testing.T) {
	for _, n := range []int{0, 31, 33, 64} {
		if _, err := FromSeed(make([]byte, n)); err == nil {
			t.Errorf("%d bytes are taken", n)
		}
	}
}

func TestVerifyOpenRefuses(t *testing.T) {
	mine, other := newKey(t), newKey(t)
	url, err := mine.RuntimeURL("a.example")
	if err != nil {
		t.Fatal(err)
	}
	nonce := Nonce()
	good, err := mine.ProveOpen(nonce, url, "a.example")
	if err != nil {
		t.Fatal(err)
	}
	flip := func(s string) string {
		if s[0] == 'A' {
			return "B" + s[1:]
		}
		return "A" + s[1:]
	}
	for name, test := range map[string]struct {
		change func(p *Proof, nonce, runtime, domain *string)
		want   error // nil: any
	}{
		"other nonce":            {func(p *Proof, n, _, _ *string) { *n = Nonce() }, ErrOtherNonce},
		"nonce swapped in proof": {func(p *Proof, _, _, _ *string) { p.Nonce = Nonce() }, ErrOtherNonce},
		"signed over another nonce": {func(p *Proof, n, _, _ *string) {
			p.Nonce = Nonce()
			*n = p.Nonce
		}, ErrSignature},
		"other domain": {func(_ *Proof, _, _, d *string) { *d = "b.example" }, ErrSignature},
		"other runtime": {func(_ *Proof, _, r, _ *string) {
			*r = "runtime://a.example/" + other.ID()
		}, ErrOtherKey},
		"same id at another domain": {func(_ *Proof, _, r, _ *string) { *r = "runtime://b.example/" + mine.ID() }, ErrSignature},
		"upper-case id": {func(_ *Proof, _, r, _ *string) {
			*r = "runtime://a.example/" + strings.ToUpper(mine.ID())
		}, ErrOtherKey},
		"component":        {func(_ *Proof, _, r, _ *string) { *r += "/sm" }, nil},
		"no runtime":       {func(_ *Proof, _, r, _ *string) { *r = "hyperty://a.example/" + mine.ID() }, nil},
		"other key":        {func(p *Proof, _, _, _ *string) { p.Key = other.Public() }, ErrOtherKey},
		"no key":           {func(p *Proof, _, _, _ *string) { p.Key = "" }, nil},
		"short key":        {func(p *Proof, _, _, _ *string) { p.Key = p.Key[:40] }, nil},
		"padded key":       {func(p *Proof, _, _, _ *string) { p.Key += "=" }, nil},
		"key of +/":        {func(p *Proof, _, _, _ *string) { p.Key = "+/" + p.Key[2:] }, nil},
		"no signature":     {func(p *Proof, _, _, _ *string) { p.Signature = "" }, ErrSignature},
		"one bit":          {func(p *Proof, _, _, _ *string) { p.Signature = flip(p.Signature) }, ErrSignature},
		"short signature":  {func(p *Proof, _, _, _ *string) { p.Signature = p.Signature[:84] }, ErrSignature},
		"signature padded": {func(p *Proof, _, _, _ *string) { p.Signature += "==" }, ErrSignature},
		"short nonce": {func(p *Proof, n, _, _ *string) {
			p.Nonce = "short"
			*n = "short"
		}, nil},
	} {
		p, n, r, d := good, nonce, url.String(), "a.example"
		test.change(&p, &n, &r, &d)
		err := VerifyOpen(p, n, address.MustParse(r), d)
		if err == nil || test.want != nil && !errors.Is(err, test.want) {
			t.Errorf("%s: %v, want %v", name, err, test.want)
		}
	}
	if err := VerifyOpen(good, nonce, url, "a.example"); err != nil {
		t.Error(err)
	}
	if err := VerifyOpen(Proof{}, "", address.Address{}, ""); err == nil {
		t.Error("nothing is taken")
	}
}

func TestProveOpenRefuses(t *testing.T) {
	k := newKey(t)
	url, _ := k.RuntimeURL("a.example")
	// A nonce with line feeds could carry a text of the node's choice.
	for _, nonce := range []string{"", "short", "0123456789012345678901\n", strings.Repeat("a", MaxNonce+1), "012345678901234567890 x"} {
		if _, err := k.ProveOpen(nonce, url, "a.example"); err == nil {
			t.Errorf("nonce %q is signed", nonce)
		}
	}
	other, _ := newKey(t).RuntimeURL("a.example")
	if _, err := k.ProveOpen(Nonce(), other, "a.example"); !errors.Is(err, ErrOtherKey) {
		t.Errorf("another's runtime: %v", err)
	}
	if _, err := k.ProveOpen(Nonce(), url.Join("sm"), "a.example"); err == nil {
		t.Error("a component is signed")
	}
}

func TestSignalRefuses(t *testing.T) {
	a, b := newKey(t), newKey(t)
	urlA, _ := a.RuntimeURL("a.example")
	urlB, _ := b.RuntimeURL("b.example")
	good := Signal{From: urlA, To: urlB, Kind: "offer", Attempt: 7, Value: "v=0\r\na=fingerprint:1\n"}
	key, signature, err := a.SignSignal(good)
	if err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*Signal){
		"value":            func(s *Signal) { s.Value += " " },
		"attempt":          func(s *Signal) { s.Attempt++ },
		"kind":             func(s *Signal) { s.Kind = "answer" },
		"kind moved":       func(s *Signal) { s.Kind = "offer\n7" },
		"empty kind":       func(s *Signal) { s.Kind = "" },
		"to":               func(s *Signal) { s.To = urlA },
		"to a component":   func(s *Signal) { s.To = urlB.Join("p2p") },
		"from":             func(s *Signal) { s.From = urlB },
		"from a component": func(s *Signal) { s.From = urlA.Join("p2p") },
		"from elsewhere":   func(s *Signal) { s.From = address.MustParse("runtime://c.example/" + a.ID()) },
		"nothing":          func(s *Signal) { *s = Signal{} },
	} {
		s := good
		change(&s)
		if err := VerifySignal(s, key, signature); err == nil {
			t.Errorf("changed %s verifies", name)
		}
	}
	if err := VerifySignal(good, b.Public(), signature); !errors.Is(err, ErrOtherKey) {
		t.Errorf("another's key: %v", err)
	}
	if _, _, err := b.SignSignal(good); !errors.Is(err, ErrOtherKey) {
		t.Errorf("another's signal: %v", err)
	}
	for _, kind := range []string{"", "Offer", "of fer", "offer\n"} {
		s := good
		s.Kind = kind
		if _, _, err := a.SignSignal(s); err == nil {
			t.Errorf("kind %q is signed", kind)
		}
	}
	// A proof of open is no signal, whatever the fields.
	proof, err := a.ProveOpen(Nonce(), urlA, "a.example")
	if err != nil {
		t.Fatal(err)
	}
	if err := VerifySignal(good, key, proof.Signature); !errors.Is(err, ErrSignature) {
		t.Errorf("proof of open as signal: %v", err)
	}
}

func TestRuntimeURL(t *testing.T) {
	k := newKey(t)
	url, err := k.RuntimeURL("Example.ORG:8080")
	if err != nil || url.String() != "runtime://example.org:8080/"+k.ID() {
		t.Errorf("%q, %v", url, err)
	}
	for _, domain := range []string{"", "a b", "a/b", "a\nb", "?"} {
		if url, err := k.RuntimeURL(domain); err == nil {
			t.Errorf("domain %q gives %q", domain, url)
		}
	}
}

func TestNonces(t *testing.T) {
	seen := map[string]bool{}
	for range 1000 {
		n := Nonce()
		if err := checkNonce(n); err != nil || seen[n] {
			t.Fatalf("%q: %v, seen %v", n, err, seen[n])
		}
		seen[n] = true
	}
}

func TestSaveAndLoad(t *testing.T) {
	path := filepath.Join(t.TempDir(), "key.pem")
	k := newKey(t)
	if err := k.Save(path); err != nil {
		t.Fatal(err)
	}
	if stat, err := os.Stat(path); err != nil || stat.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", stat.Mode(), err)
	}
	got, err := Load(path)
	if err != nil || got.ID() != k.ID() || !got.private.Equal(k.private) {
		t.Fatalf("loaded %v, %v", got, err)
	}
	if err := newKey(t).Save(path); !errors.Is(err, fs.ErrExist) {
		t.Errorf("overwriting: %v", err)
	}
	if again, err := Load(path); err != nil || again.ID() != k.ID() {
		t.Errorf("after that: %v, %v", again, err)
	}
	if names, _ := os.ReadDir(filepath.Dir(path)); len(names) != 1 {
		t.Errorf("left behind: %v", names)
	}
	if err := renameNew(path, path); !errors.Is(err, fs.ErrExist) {
		t.Errorf("renaming onto a file: %v", err)
	}
}

func TestLoadRefuses(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, text []byte, mode fs.FileMode) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, text, mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	good, err := newKey(t).encodePEM()
	if err != nil {
		t.Fatal(err)
	}
	other, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(other)
	if err != nil {
		t.Fatal(err)
	}
	for name, path := range map[string]string{
		"no file":       filepath.Join(dir, "none"),
		"a folder":      dir,
		"open to all":   write("open", good, 0o644),
		"empty":         write("empty", nil, 0o600),
		"cut":           write("cut", good[:len(good)/2], 0o600),
		"another block": write("block", []byte(strings.ReplaceAll(string(good), "PRIVATE", "PUBLIC")), 0o600),
		"no PKCS#8":     write("garbage", pem.EncodeToMemory(&pem.Block{Type: blockType, Bytes: []byte("x")}), 0o600),
		"an RSA key":    write("rsa", pem.EncodeToMemory(&pem.Block{Type: blockType, Bytes: der}), 0o600),
	} {
		if k, err := Load(path); err == nil || k != nil {
			t.Errorf("%s is taken", name)
		}
	}
	if err := newKey(t).Save(filepath.Join(dir, "none", "key")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("saving into no folder: %v", err)
	}
}

func TestLoadOrNewGivesOneKey(t *testing.T) {
	path := filepath.Join(t.TempDir(), "key.pem")
	ids := make([]string, 8)
	var group sync.WaitGroup
	for i := range ids {
		group.Go(func() {
			k, err := LoadOrNew(path)
			if err != nil {
				t.Error(err)
				return
			}
			ids[i] = k.ID()
		})
	}
	group.Wait()
	for _, id := range ids {
		if id != ids[0] || id == "" {
			t.Fatalf("ids differ: %v", ids)
		}
	}
	if _, err := LoadOrNew(filepath.Dir(path)); err == nil {
		t.Error("a folder is taken for a key")
	}
}

func newKey(t *testing.T) *Key {
	t.Helper()
	k, err := New()
	if err != nil {
		t.Fatal(err)
	}
	if len(k.private) != ed25519.PrivateKeySize {
		t.Fatal("no key")
	}
	return k
}
