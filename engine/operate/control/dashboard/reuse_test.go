package dashboard

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// counted answers with how often it was asked, and takes its time for that.
type counted struct {
	mu    sync.Mutex
	n     int
	takes time.Duration
}

func (c *counted) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	time.Sleep(c.takes)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.n++
	if r.URL.Path == "/fault" {
		w.WriteHeader(http.StatusBadRequest)
	}
	fmt.Fprint(w, c.n)
}

// askReuse returns the answer to a question of a page that takes answers of so many seconds; "" for one of its own.
func askReuse(u *Reuse, path, age string) string {
	r := httptest.NewRequest(http.MethodGet, path, nil)
	if age != "" {
		r.Header.Set("Cache-Control", "max-age="+age)
	}
	w := httptest.NewRecorder()
	u.ServeHTTP(w, r)
	return w.Body.String()
}

// Pages that ask the same within some seconds get one answer. A script gets its own.
func TestReuse_manyPagesCostAsOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := new(counted)
		u := NewReuse(c)
		for _, step := range []struct {
			wait      time.Duration
			path, age string
			want      string
		}{
			{0, "/hosts", "5", "1"},
			{4 * time.Second, "/hosts", "5", "1"},
			{0, "/hosts?sort=due", "5", "2"},
			{0, "/hosts", "", "3"},
			{2 * time.Second, "/hosts", "5", "4"},
			{0, "/hosts", "x", "5"},
			{0, "/fault", "5", "6"},
			{0, "/fault", "5", "7"},
		} {
			time.Sleep(step.wait)
			if got := askReuse(u, step.path, step.age); got != step.want {
				t.Errorf("%s with %q after %v: %s, want %s", step.path, step.age, step.wait, got, step.want)
			}
		}
	})
}

// An answer that takes half a second is made once in 50 seconds, whatever the pages want, and once for all that wait.
func TestReuse_aSlowAnswerIsUsedForLonger(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &counted{takes: time.Second / 2}
		u := NewReuse(c)
		var pages sync.WaitGroup
		for range 10 {
			pages.Go(func() {
				for range 100 {
					askReuse(u, "/hosts", "5")
					time.Sleep(5 * time.Second)
				}
			})
		}
		pages.Wait()
		if c.n < 9 || c.n > 11 {
			t.Errorf("made %d times in 500 seconds", c.n)
		}
	})
}

// Four lists of a crawl with very many hosts together take a hundredth of the time, too. When pages ask for one alone,
// it is made more often again.
func TestReuse_allAnswersTogetherTakeAHundredth(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &counted{takes: time.Second / 2}
		u := NewReuse(c)
		began := time.Now()
		for time.Since(began) < 2000*time.Second {
			for _, path := range []string{"/hosts?sort=queue", "/hosts?sort=errors", "/hosts?sort=delay", "/doctor"} {
				askReuse(u, path, "5")
			}
			time.Sleep(5 * time.Second)
		}
		if c.n < 36 || c.n > 44 { // the first four, and a hundredth of 2,000 seconds
			t.Errorf("made %d times in 2,000 seconds", c.n)
		}
		time.Sleep(2 * time.Minute)
		before := c.n
		for range 100 {
			askReuse(u, "/doctor", "5")
			time.Sleep(5 * time.Second)
		}
		if n := c.n - before; n < 9 || n > 11 {
			t.Errorf("the only one was made %d times in 500 seconds", n)
		}
	})
}

// What is kept has bounds.
func TestReuse_keepsFewAnswers(t *testing.T) {
	u := NewReuse(new(counted))
	for i := range 100 {
		askReuse(u, fmt.Sprintf("/hosts?limit=%d", i), "60")
		if len(u.answers) > answersMost {
			t.Fatalf("%d answers are kept", len(u.answers))
		}
	}
}

// A bug that makes one answer panic costs this answer alone: the next request asks again.
func TestReuse_aPanicGivesTheTurnBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		isBroken := true
		u := NewReuse(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			if isBroken {
				panic("BUG: a test")
			}
			fmt.Fprint(w, "well")
		}))
		for range 3 {
			func() {
				defer func() {
					if recover() == nil { // net/http does this
						t.Error("no panic")
					}
				}()
				askReuse(u, "/hosts", "5")
			}()
		}
		isBroken = false
		if got := askReuse(u, "/hosts", "5"); got != "well" {
			t.Errorf("after the panic: %q", got)
		}
	})
}
