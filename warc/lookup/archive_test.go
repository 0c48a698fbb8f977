package lookup

import (
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"orbweaver/internal/vfs"
	"orbweaver/warc"
)

// read returns status and payload of the capture of a URL closest to a time.
func read(t *testing.T, a *Archive, url string, at time.Time) (status int, payload string, err error) {
	t.Helper()
	c, err := a.Closest(t.Context(), url, at)
	if err != nil {
		return 0, "", err
	}
	p, err := a.Read(t.Context(), c)
	if err != nil {
		return 0, "", err
	}
	defer p.Close()
	body, err := io.ReadAll(p.Body)
	if err != nil {
		t.Fatal(err)
	}
	return p.Head.Status, string(body), nil
}

func revisit(url, refersTo string, at time.Time) warc.Record {
	return warc.Record{
		Type: warc.Revisit, TargetURI: []byte(url), Profile: warc.ProfileIdentical, RefersToURI: refersTo,
		RefersToDate: at, Index: &warc.IndexInfo{Status: 200},
	}
}

// A revisit has the payload of the record that it refers to, at another URL or an earlier time. Its head is its own,
// unless that says "not modified".
func TestRead_resolvesRevisits(t *testing.T) {
	fsys := vfs.NewMem(1)
	s := newStored(t, fsys, warc.Options{Dir: "w"})
	s.page("http://a.test/", "first")
	s.page("http://a.test/", "second")
	s.store(revisit("http://a.test/copy", "http://a.test/", began), "HTTP/1.1 203 Copy\r\nX-Own: yes\r\n\r\n")
	unmodified := revisit("http://a.test/", "http://a.test/", began.Add(time.Second))
	unmodified.Profile = warc.ProfileNotModified
	s.store(unmodified, "HTTP/1.1 304 Not Modified\r\n\r\n")
	s.store(revisit("http://a.test/lost", "http://b.test/", began), "HTTP/1.1 200 OK\r\n\r\n")
	defer s.close()
	a := New(NewFiles(Options{FS: fsys, Dirs: []string{"w"}})) // the file is still open
	for _, c := range []struct {
		url    string
		at     time.Time
		status int
		want   string
	}{
		{"http://a.test/", time.Time{}, 200, "second"},
		{"http://a.test/", began.Add(-time.Hour), 200, "first"},
		{"http://a.test/", began.Add(1200 * time.Millisecond), 200, "second"},
		{"http://a.test/copy", time.Time{}, 203, "first"},
		{"https://www.a.test/copy/", time.Time{}, 203, "first"}, // the same key
	} {
		status, payload, err := read(t, a, c.url, c.at)
		if err != nil || status != c.status || payload != c.want {
			t.Errorf("%s at %v: %d %q, %v", c.url, c.at, status, payload, err)
		}
	}
	if _, _, err := read(t, a, "http://a.test/lost", time.Time{}); !errors.Is(err, ErrOriginal) ||
		!strings.Contains(err.Error(), "http://b.test/") {
		t.Error(err)
	}
	if _, _, err := read(t, a, "http://a.test/none", time.Time{}); !errors.Is(err, ErrNoCapture) {
		t.Error(err)
	}
}

// Exactly this URL comes before one with the same key, even if that is later.
func TestClosest_prefersTheURLItself(t *testing.T) {
	fsys := vfs.NewMem(1)
	s := newStored(t, fsys, warc.Options{Dir: "w"})
	s.page("http://a.test/x", "lower")
	s.page("http://a.test/X", "upper")
	s.close()
	a := New(NewFiles(Options{FS: fsys, Files: []string{archiveName(t, fsys, "w", ".warc.gz")}}))
	for url, want := range map[string]string{"http://a.test/x": "lower", "http://a.test/X": "upper"} {
		if _, got, err := read(t, a, url, time.Time{}); err != nil || got != want {
			t.Errorf("%s: %q, %v", url, got, err)
		}
	}
}

// An index that does not fit its file is an error that says what to do, and never another page.
func TestOpen_refusesAWrongIndex(t *testing.T) {
	fsys := vfs.NewMem(1)
	s := newStored(t, fsys, warc.Options{Dir: "w"})
	s.page("http://a.test/1", "one")
	s.page("http://a.test/2", "two")
	s.close()
	index := archiveName(t, fsys, "w", ".cdxj")
	text, err := vfs.ReadFile(fsys, index)
	if err != nil {
		t.Fatal(err)
	}
	for _, wrong := range [][2]string{
		{`"offset":"`, `"offset":"1`}, {`.warc.gz`, `.gone.gz`}, {`"filename":"`, `"filename":"../`},
	} {
		if err := vfs.WriteAtomic(fsys, index, func(w io.Writer) error {
			_, err := io.WriteString(w, strings.ReplaceAll(string(text), wrong[0], wrong[1]))
			return err
		}); err != nil {
			t.Fatal(err)
		}
		a := New(NewFiles(Options{FS: fsys, Dirs: []string{"w"}}))
		if _, payload, err := read(t, a, "http://a.test/1", time.Time{}); err == nil {
			t.Errorf("%q: %q", wrong, payload)
		}
	}
}

// What is near a URL that is not there is named, the nearest directory first.
func TestNear(t *testing.T) {
	fsys := vfs.NewMem(1)
	s := newStored(t, fsys, warc.Options{Dir: "w"})
	for _, url := range []string{"http://a.test/x/1", "http://a.test/x/2", "http://a.test/y", "http://sub.a.test/z"} {
		s.page(url, "")
	}
	s.close()
	a := New(NewFiles(Options{FS: fsys, Dirs: []string{"w"}}))
	for url, want := range map[string]string{
		"http://a.test/x/3": "http://a.test/x/1 http://a.test/x/2",
		"http://a.test/q":   "http://a.test/x/1 http://a.test/x/2 http://a.test/y",
		"http://b.test/":    "",
	} {
		got, err := a.Near(t.Context(), url, 3)
		if err != nil || strings.Join(got, " ") != want {
			t.Errorf("%s: %q, %v", url, got, err)
		}
	}
}

// Times of people and of replay addresses.
func TestParseTime(t *testing.T) {
	for text, want := range map[string]string{
		"2026": "20260101000000", "202602": "20260201000000", "20260203": "20260203000000",
		"20260203040506": "20260203040506", "2026-02-03": "20260203000000",
		"2026-02-03T04:05:06+02:00": "20260203020506", "2026-02-03T04:05:06.7Z": "20260203040506",
	} {
		if at, err := ParseTime(text); err != nil || at.Format(stampLayout) != want {
			t.Errorf("%s: %v, %v", text, at, err)
		}
	}
	for _, text := range []string{"", "20", "yesterday", "20261301", "202602030405067"} {
		if at, err := ParseTime(text); err == nil {
			t.Errorf("%s: %v", text, at)
		}
	}
}
