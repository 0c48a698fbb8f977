package settings

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"testing"
	"time"

	"orbweaver/internal/vfs"
	"orbweaver/internal/vfs/vfstest"
)

// A crawl directory may hold a rule for a range of addresses that a former version took. The crawl goes on with it, and
// the log says what it does not fit.
func TestHostRules_aKeptRangeOfAddressesIsWarnedOf(t *testing.T) {
	for text, want := range map[string]bool{
		"192.0.2.0/24 exclude": true, "2001:db8::/32 host-delay=9s": true, "192.0.2.7 exclude": false,
		".a.test exclude": false,
	} {
		var said bytes.Buffer
		fsys := vfs.NewMem(1)
		if err := fsys.MkdirAll("frontier"); err != nil {
			t.Fatal(err)
		}
		if err := vfs.WriteAtomic(fsys, HostRulesName("frontier"), func(w io.Writer) error {
			_, err := io.WriteString(w, text+"\n")
			return err
		}); err != nil {
			t.Fatal(err)
		}
		h, err := OpenHostRules(fsys, "frontier", nil, slog.New(slog.NewTextHandler(&said, nil)))
		if err != nil || strings.Contains(said.String(), RangesFit) != want {
			t.Errorf("%s: %v, said %q", text, err, said.String())
			continue
		}
		if terms := h.Terms([]byte("http://names.test/")); terms.Exclude || terms.HasDelay {
			t.Errorf("%s fits a name", text)
		}
		taken, err := h.Add([]string{"b.test exclude"})
		if taken != 1 || err != nil || !h.Excludes([]byte("http://b.test/")) {
			t.Errorf("%s: another rule is not taken: %v", text, err)
		}
	}
}

// The rule of an answer is in force at once and in the file after Flush. It does not exclude what the operator allows.
func TestHostRules_ofAnswers(t *testing.T) {
	fsys := vfs.NewMem(1)
	if err := fsys.MkdirAll("frontier"); err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.DiscardHandler)
	h, err := OpenHostRules(fsys, "frontier", nil, log)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := h.Add([]string{"good.test exclude=no"}); err != nil {
		t.Fatal(err)
	}
	for rule, want := range map[string]bool{
		"spam.test exclude": true, "good.test exclude": false, "good.test max-per-host=3": true, "spam.test": false,
	} {
		if got := h.AddAnswer(rule); got != want {
			t.Errorf("%s: %v, want %v", rule, got, want)
		}
	}
	for _, isFlushed := range []bool{false, true} {
		if isFlushed {
			if err := h.Flush(); err != nil {
				t.Fatal(err)
			}
		}
		again, err := OpenHostRules(fsys, "frontier", nil, log)
		spam, good := []byte("http://spam.test/"), []byte("http://good.test/")
		if err != nil || again.Excludes(spam) != isFlushed || !h.Excludes(spam) || h.Excludes(good) ||
			again.Terms(good).HasCap != isFlushed {
			t.Errorf("flushed %v: %v", isFlushed, err)
		}
	}
}

// A program may give a rule for each of many hosts. If the cost of a rule grew with their number, these would take
// minutes.
func TestHostRules_ofManyAnswers(t *testing.T) {
	fsys := vfstest.WithDir(t, "frontier")
	h, err := OpenHostRules(fsys, "frontier", nil, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	const hosts = 40_000
	began := time.Now()
	for i := range hosts {
		if !h.AddAnswer(fmt.Sprintf("host%d.test exclude", i)) {
			t.Fatal("not taken")
		}
	}
	if took := time.Since(began); took > 20*time.Second {
		t.Errorf("%d answers took %s", hosts, took)
	}
	if err := h.Flush(); err != nil {
		t.Fatal(err)
	}
	again, err := OpenHostRules(fsys, "frontier", nil, h.Say)
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range []*HostRules{h, again} {
		live, _ := h.List()
		if len(live) != hosts || !h.Excludes([]byte("http://host39999.test/")) || h.Excludes([]byte("http://host.test/")) {
			t.Errorf("%d rules", len(live))
		}
	}
}
