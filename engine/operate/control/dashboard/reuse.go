package dashboard

import (
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Reuse answers questions of pages with an answer of before, if it is young enough, so that many pages cost as one. A
// page says with Cache-Control: max-age=SECONDS that such an answer will do. Answers that took long are used for
// longer: making all of them takes one hundredth of the time at most. Requests without max-age get an answer of their
// own.
type Reuse struct {
	next http.Handler

	mu      sync.Mutex
	answers map[string]*keptAnswer // by path and query
}

// keptAnswer is an answer, or the place of one that is being made.
type keptAnswer struct {
	turn   chan struct{} // holds one value while it is made or read
	status int
	kind   string // its content type
	body   []byte
	made   time.Time // zero if there is none

	took    atomic.Int64 // nanoseconds for the last one
	lastUse time.Time    // when a page asked for it; guarded by Reuse.mu
}

const (
	answersMost = 16      // that are kept
	answerMost  = 2 << 20 // bytes of one that is kept
	ageForTook  = 100     // how much older an answer may be than the time that all answers took
	usedWithin  = time.Minute
)

// NewReuse returns a Reuse before the control API.
func NewReuse(next http.Handler) *Reuse {
	return &Reuse{next: next, answers: make(map[string]*keptAnswer)}
}

// ServeHTTP answers.
func (u *Reuse) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	age, ok := maxAge(r)
	if !ok {
		u.next.ServeHTTP(w, r)
		return
	}
	k, took := u.place(r.URL.RequestURI())
	select {
	case k.turn <- struct{}{}:
	case <-r.Context().Done():
		return
	}
	status, kind, body := u.answer(k, r, max(age, ageForTook*took))
	w.Header().Set("Content-Type", kind)
	w.WriteHeader(status)
	_, _ = w.Write(body) // the client may be gone
}

// answer returns the answer that is kept, or makes one if that is too old. It ends the turn.
func (u *Reuse) answer(k *keptAnswer, r *http.Request, age time.Duration) (status int, kind string, body []byte) {
	defer func() { <-k.turn }()
	now := time.Now()
	if !k.made.IsZero() && now.Sub(k.made) <= age {
		return k.status, k.kind, k.body
	}
	k.made, k.body = time.Time{}, nil // also if this answer panics
	c := &capture{header: make(http.Header), status: http.StatusOK}
	u.next.ServeHTTP(c, r)
	k.took.Store(int64(time.Since(now)))
	if r.Context().Err() == nil && c.status == http.StatusOK && len(c.body) <= answerMost {
		k.status, k.kind, k.body, k.made = c.status, c.header.Get("Content-Type"), c.body, time.Now()
	}
	return c.status, c.header.Get("Content-Type"), c.body
}

// place returns the place of an answer, and how long it took to make all answers that pages ask for at present. All
// answers go if there are too many.
func (u *Reuse) place(question string) (k *keptAnswer, took time.Duration) {
	u.mu.Lock()
	defer u.mu.Unlock()
	k, ok := u.answers[question]
	if !ok {
		if len(u.answers) >= answersMost {
			clear(u.answers) // pages ask again within seconds
		}
		k = &keptAnswer{turn: make(chan struct{}, 1)}
		u.answers[question] = k
	}
	now := time.Now()
	k.lastUse = now
	for _, other := range u.answers {
		if now.Sub(other.lastUse) < usedWithin {
			took += time.Duration(other.took.Load())
		}
	}
	return k, took
}

// maxAge is the age in the Cache-Control of a question.
func maxAge(r *http.Request) (time.Duration, bool) {
	text, ok := strings.CutPrefix(r.Header.Get("Cache-Control"), "max-age=")
	if !ok || r.Method != http.MethodGet {
		return 0, false
	}
	seconds, err := strconv.ParseUint(text, 10, 16)
	return time.Duration(seconds) * time.Second, err == nil
}

// capture keeps an answer.
type capture struct {
	header http.Header
	status int
	body   []byte
}

func (c *capture) Header() http.Header    { return c.header }
func (c *capture) WriteHeader(status int) { c.status = status }

func (c *capture) Write(b []byte) (int, error) {
	c.body = append(c.body, b...)
	return len(b), nil
}
