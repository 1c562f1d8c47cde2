package turn

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha1"
	"encoding/base64"
	"strconv"
	"strings"
	"time"

	"github.com/pion/stun/v4"
	"github.com/pion/turn/v5"
)

// secret is what credentials are made of, as the REST API for TURN has it (draft-uberti-behave-turn-rest-00): the user name
// says until when it is good and whose it is, the password is its HMAC. It is drawn anew at each start, and never leaves.
type secret struct {
	key   []byte
	realm string
}

func newSecret(realm string) secret {
	key := make([]byte, 32)
	rand.Read(key) // never fails
	return secret{key: key, realm: realm}
}

// issue gives a user credentials for a time.
func (s secret) issue(user string, lifetime time.Duration) (name, password string) {
	name = strconv.FormatInt(time.Now().Add(lifetime).Unix(), 10) + ":" + user
	return name, s.password(name)
}

// password is that of a user name. SHA-1 is the draft's, and as an HMAC still sound.
func (s secret) password(name string) string {
	mac := hmac.New(sha1.New, s.key)
	mac.Write([]byte(name))
	return base64.StdEncoding.EncodeToString(mac.Sum(nil))
}

// authenticate is a turn.AuthHandler. Credentials that have run out make no allocation, but keep one that was made in time:
// a peer connection has no way to exchange them.
func (s secret) authenticate(r *turn.RequestAttributes) (user string, key []byte, ok bool) {
	until, user, found := strings.Cut(r.Username, ":")
	seconds, err := strconv.ParseInt(until, 10, 64)
	if !found || err != nil || r.Realm != s.realm {
		return "", nil, false
	}
	if r.Method == stun.MethodAllocate && !time.Now().Before(time.Unix(seconds, 0)) {
		return "", nil, false
	}
	return user, turn.GenerateAuthKey(r.Username, r.Realm, s.password(r.Username)), true
}
