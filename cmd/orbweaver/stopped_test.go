package main

import (
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"orbweaver/engine/state/layout"
	"orbweaver/internal/cli/command"
	"orbweaver/internal/vfs"
)

// The rules and changes of a crawl that does not run can be read, and its next run begins with rules that it is given
// meanwhile. Settings are given when it goes on, and ctl says so.
func TestCtl_ofAStoppedCrawl(t *testing.T) {
	w := new(asked)
	site := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		w.note(r.URL.Path)
		_, _ = out.Write([]byte("<a href=/one></a><a href=/two></a><a href=/three></a>"))
	}))
	defer site.Close()
	dir := filepath.Join(t.TempDir(), "c")
	fixed := filepath.Join(filepath.Dir(dir), "rules.txt")
	writeFile(t, fixed, ".slow.test host-delay=20s\n")
	call(nearby(dir, "--host-rules", fixed, "--max-pages", "1", site.URL+"/")...).want(t, command.ExitDone)
	w.take()
	call("ctl", "--dir", dir, "rule", "127.0.0.1", "host-delay=never").want(t, command.ExitFailed, "host-delay=never")
	call("ctl", "--dir", dir, "block", "127.0.0.1", "b.test").want(t, command.ExitDone, "2 of 2 host rules kept")
	rules := call("ctl", "--dir", dir, "rules").want(t, command.ExitDone).out
	if want := "127.0.0.1/32 exclude  # ctl\nb.test exclude  # ctl\n.slow.test host-delay=20s\n"; rules != want {
		t.Errorf("the rules are\n%s, want\n%s", rules, want)
	}
	changes := call("ctl", "--dir", dir, "changes").want(t, command.ExitDone)
	if !strings.Contains(changes.out, "CHANGE") {
		t.Error(changes.out)
	}
	for _, action := range [][]string{{"set"}, {"set", "host-delay=3s"}, {"undo"}, {"set", "--reload"}} {
		call(append([]string{"ctl", "--dir", dir}, action...)...).want(t, command.ExitFailed,
			"does not run", "orbweaver crawl --dir "+dir+" --host-delay")
	}
	lock, err := layout.Lock(vfs.Disk(), dir)
	if err != nil {
		t.Fatal(err)
	}
	call("ctl", "--dir", dir, "block", "c.test").want(t, command.ExitFailed, "a crawl runs there")
	if err := lock.Close(); err != nil {
		t.Fatal(err)
	}
	r := call("crawl", "--dir", dir, "--max-pages", "9").want(t, command.ExitDone, "blocked 3")
	if got := w.take(); got != "" {
		t.Errorf("a blocked host was asked for %s\n%s", got, r.err)
	}
}
