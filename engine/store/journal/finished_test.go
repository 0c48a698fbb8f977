package journal

import (
	"testing"

	"orbweaver/internal/outcome"
	"orbweaver/internal/urlx"
)

// TestFinishedURLs adds two URLs, takes them through the encoded form, and removes one. One has no line in the crawl
// log.
func TestFinishedURLs(t *testing.T) {
	const seed = 7
	a, b := []byte("http://a.test/"), []byte("http://b.test/gone")
	f := NewFinishedURLs()
	if _, o := f.OutcomeOf(seed, a); !f.IsEmpty() || o != outcome.None {
		t.Errorf("an empty set knows %s as %v", a, o)
	}
	f.Add(urlx.Fingerprint(seed, a), outcome.OK)
	f.Add(urlx.Fingerprint(seed, b), outcome.ClientError)
	missing := urlx.Fingerprint(seed, a)
	f.AddUnlogged(missing)
	loaded := NewFinishedURLs()
	if err := loaded.Load(f.Append(nil)); err != nil {
		t.Fatal(err)
	}
	fp, o := loaded.OutcomeOf(seed, b)
	if o != outcome.ClientError {
		t.Errorf("%s has the outcome %v, want %v", b, o, outcome.ClientError)
	}
	if !loaded.IsUnlogged(missing) || loaded.IsUnlogged(fp) {
		t.Error("which URL has no line in the crawl log was lost")
	}
	loaded.RemoveUnlogged(missing)
	if loaded.IsUnlogged(missing) {
		t.Error("the URL has its line now")
	}
	loaded.Remove(fp)
	if _, o := loaded.OutcomeOf(seed, b); o != outcome.None {
		t.Errorf("%s was removed and has the outcome %v", b, o)
	}
	if _, o := loaded.OutcomeOf(seed, a); o != outcome.OK || loaded.IsEmpty() {
		t.Errorf("%s has the outcome %v, want %v", a, o, outcome.OK)
	}
	if loaded.Load(make([]byte, finishedURLSize+1)) == nil {
		t.Error("a torn list was loaded")
	}
}
