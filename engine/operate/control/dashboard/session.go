package dashboard

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"net"
	"net/http"
	"strings"
	"time"
)

// keyField is the header field of the second half of a session.
const keyField = "Orbweaver-Key"

// sessionTime is how long a login is valid.
const sessionTime = 7 * 24 * time.Hour

// sessions signs and checks sessions. A session is a time, a random number and their signature. Its key is another
// signature of both.
type sessions struct{ secret []byte }

func newSessions(token string) sessions {
	secret := sha256.Sum256([]byte("orbweaver sessions of " + token))
	return sessions{secret[:]}
}

const (
	factsSize   = 8 + 16 // end of the session, random number
	sessionSize = factsSize + sha256.Size
)

func (s sessions) sign(purpose string, facts []byte) []byte {
	mac := hmac.New(sha256.New, s.secret)
	mac.Write([]byte(purpose))
	mac.Write(facts)
	return mac.Sum(nil)
}

// issue returns the two halves of a new session.
func (s sessions) issue(now time.Time) (cookie, key string) {
	facts := binary.LittleEndian.AppendUint64(nil, uint64(now.Add(sessionTime).Unix()))
	random := make([]byte, factsSize-len(facts))
	rand.Read(random)
	facts = append(facts, random...)
	encode := base64.RawURLEncoding.EncodeToString
	return encode(append(facts[:factsSize:factsSize], s.sign("cookie", facts)...)), encode(s.sign("key", facts))
}

// isValid says whether the halves belong together and the session has not ended.
func (s sessions) isValid(cookie, key string, now time.Time) bool {
	session, err := base64.RawURLEncoding.DecodeString(cookie)
	if err != nil || len(session) != sessionSize {
		return false
	}
	given, err := base64.RawURLEncoding.DecodeString(key)
	if err != nil {
		return false
	}
	facts := session[:factsSize]
	end := int64(binary.LittleEndian.Uint64(facts))
	isOurs := hmac.Equal(session[factsSize:], s.sign("cookie", facts))
	return hmac.Equal(given, s.sign("key", facts)) && isOurs && now.Unix() < end
}

// ofRequest says whether a request belongs to a session.
func (s sessions) ofRequest(r *http.Request) bool {
	c, err := r.Cookie(cookieName(r.Host))
	return err == nil && s.isValid(c.Value, r.Header.Get(keyField), time.Now())
}

// cookieName names the cookie of a server by its port, since browsers keep one set of cookies for all ports of a host.
func cookieName(host string) string {
	_, port, err := net.SplitHostPort(host)
	if err != nil {
		port = "80"
	}
	for _, c := range port {
		if c < '0' || c > '9' {
			port = "0"
			break
		}
	}
	return "orbweaver_" + port
}

// setCookie sets the cookie for the path of the page, which only the browser knows: a reverse proxy may give it a
// prefix. A page that came over TLS sends it over TLS alone.
func setCookie(w http.ResponseWriter, r *http.Request, value string, age time.Duration) {
	http.SetCookie(w, &http.Cookie{
		Name: cookieName(r.Host), Value: value, MaxAge: int(age.Seconds()), HttpOnly: true,
		SameSite: http.SameSiteStrictMode, Secure: strings.HasPrefix(r.Header.Get("Origin"), "https://"),
	})
}
