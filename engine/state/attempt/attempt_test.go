package attempt

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"

	"orbweaver/engine/net/fetch"
	"orbweaver/engine/state/queued"
	"orbweaver/internal/outcome"
)

// A page that has no outcome when the crawl ends goes back to its pool, and its buffers may have the next page. What is
// saved is its own URL. The next page in the same buffers is a second one.
func TestInFlight_keepsWhatIsDetached(t *testing.T) {
	s, a := NewInFlight(), Of(new(fetch.Page))
	begin := func(path string) {
		it := queued.URL{Rest: []byte(path)}
		a.Begin(queued.Append(nil, &it), []byte("http://a.example"+path), &it)
	}
	all := func() (urls []string) {
		s.Each(func(site, item []byte) {
			it := queued.MustDecode(item)
			urls = append(urls, string(site)+string(it.Rest))
		})
		slices.Sort(urls)
		return urls
	}
	begin("/one")
	s.Add(a)
	s.Detach(a)
	begin("/two")
	s.Add(a)
	if got := all(); !slices.Equal(got, []string{"http://a.example/one", "http://a.example/two"}) {
		t.Errorf("%q", got)
	}
	s.Remove(a)
	s.Detach(a) // it has its outcome
	if got := all(); !slices.Equal(got, []string{"http://a.example/one"}) {
		t.Errorf("%q", got)
	}
}

// A Page is used again. Nothing of its last exchange may reach the next one.
func TestBegin_forgetsTheLastExchange(t *testing.T) {
	page := new(fetch.Page)
	a := Of(page)
	last := queued.URL{
		Seed: true, Sitemap: true, ListedByIndex: true, Delayed: true,
		Tries: 3, Redirects: 2, Depth: 4, Embeds: 1, Speculative: true,
		HopPath: []byte("LE"), Via: []byte("http://a.example/"), Rest: []byte("/old"),
	}
	a.Begin(queued.Append(nil, &last), []byte("http://a.example/old"), &last)
	a.IsRobots, a.WillRetry, a.IsProbe, a.FirstOfSite = true, true, true, true
	a.RobotsRule, a.Outcome, a.Previous.RecordID = append(a.RobotsRule, "1 Allow: /"...), outcome.OK, [16]byte{1}

	next := queued.URL{Rest: []byte("/new")}
	item := queued.Append(nil, &next)
	a.Begin(item, []byte("http://a.example/new"), &next)
	if a != Of(page) {
		t.Error("the page has another attempt")
	}
	if string(a.URL) != "http://a.example/new" || string(a.Item) != string(item) {
		t.Errorf("%s, %q", a.URL, a.Item)
	}
	if a.Seed || a.Called != (queued.Called{}) || a.Delayed || a.IsRobots || a.WillRetry || a.IsProbe || a.FirstOfSite {
		t.Errorf("a mark is left: %+v", a)
	}
	if a.Tries != 0 || a.Hops != (queued.Hops{}) || a.HopPath != nil || a.Via != nil || len(a.RobotsRule) > 0 ||
		a.Outcome != outcome.None || !a.Previous.IsNone() || a.Due != (Due{}) {
		t.Errorf("something is left: %+v", a)
	}
}

// The URL and the item belong to the attempt: the worker that begins it uses its buffers again.
func TestBegin_copiesWhatItIsGiven(t *testing.T) {
	it := queued.URL{HopPath: []byte("L"), Via: []byte("http://a.example/"), Rest: []byte("/page"), Depth: 1}
	item, url := queued.Append(nil, &it), []byte("http://a.example/page")
	var a Attempt
	a.Begin(item, url, &it)
	clear(item)
	clear(url)
	if string(a.URL) != "http://a.example/page" || string(a.Via) != "http://a.example/" || string(a.HopPath) != "L" {
		t.Errorf("%q, via %q, %q", a.URL, a.Via, a.HopPath)
	}
}

func TestIsUnchanged_needsAPreviousCapture(t *testing.T) {
	var a Attempt
	page := &fetch.Page{}
	page.Status = statusNotModified
	if IsUnchanged(page, &a) {
		t.Error("304 to a request that was not conditional")
	}
	a.Previous.RecordID = [16]byte{1}
	if !IsUnchanged(page, &a) {
		t.Error("304 to a conditional request")
	}
}

// WaitFor returns with the last attempt for one of its URLs, whatever others are in flight.
func TestWaitFor_endsWithTheLastAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		set := NewInFlight()
		var first, second, other Attempt
		for a, url := range map[*Attempt]string{&first: "http://a/", &second: "http://b/", &other: "http://c/"} {
			a.URL = []byte(url)
			set.Add(a)
		}
		ended := make(chan error, 1)
		go func() { ended <- set.WaitFor(t.Context(), map[string]struct{}{"http://a/": {}, "http://b/": {}}) }()
		for _, a := range []*Attempt{&first, &second} {
			synctest.Wait()
			if len(ended) > 0 {
				t.Fatal("it did not wait for", string(a.URL))
			}
			set.Remove(a)
		}
		if err := <-ended; err != nil {
			t.Error(err)
		}
		set.Remove(&other)
	})
}

func TestWaitFor_endsWithItsContext(t *testing.T) {
	set := NewInFlight()
	a := &Attempt{URL: []byte("http://a/")}
	set.Add(a)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := set.WaitFor(ctx, map[string]struct{}{"http://a/": {}}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestEach_namesTheSiteOfEachItem(t *testing.T) {
	set := NewInFlight()
	set.Add(&Attempt{URL: []byte("http://a.example/x"), Item: []byte("x")})
	set.Add(&Attempt{URL: []byte("https://b.example/y"), Item: []byte("y")})
	got := map[string]string{}
	set.Each(func(site, item []byte) { got[string(site)] = string(item) })
	if len(got) != 2 || got["http://a.example"] != "x" || got["https://b.example"] != "y" {
		t.Error(got)
	}
}
