package main

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"orbweaver/internal/cli/command"
)

// A resume keeps the form of known URLs and what a sum adds up, and says what to give. A list is taken away by "". A
// crawl that begins again takes all.
func TestResume_keepsFormAndSums(t *testing.T) {
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte("<a href='/a?b=2&a=1'>a</a><a href='/b'>b</a>"))
	}))
	defer site.Close()
	dir := t.TempDir()
	with := func(more ...string) []string {
		return nearby(dir, append([]string{"--progress", "none", "--max-pages", "1"}, more...)...)
	}
	call(with("--stat", "one=1", "--header", "X-Of: me", "--hook", "page=cat", site.URL)...).want(t, command.ExitDone)
	for _, c := range [][]string{
		{"--normal-form sorted", "knows URLs in the form whatwg and cannot change to sorted; give --normal-form whatwg"},
		{"--stat one=2", `has a sum one of another expression, "one=1": give the new one another name`},
		{"--refresh --normal-form sorted --stat one=2"},
		{"--stat one=1", `has a sum one of another expression, "one=2": give`},
		{"--normal-form whatwg", "in the form sorted and cannot change to whatwg"},
		{"--stat two=1 --normal-form sorted"},
		{"--stat= --header= --hook= --dedup-from= --warc-info="},
		{"--stat three=3 --stat one=2", "--stat: the crawl in " + dir + " has a sum one already, of --hook or of an earlier"},
	} {
		code := command.ExitUsage
		if len(c) == 1 {
			code = command.ExitDone
		}
		call(with(strings.Fields(c[0])...)...).want(t, code, c[1:]...)
	}
	b, err := os.ReadFile(filepath.Join(dir, settingsName))
	if err != nil {
		t.Fatal(err)
	}
	for _, list := range []string{"stat", "header", "hook", "dedup-from", "warc-info"} {
		if strings.Contains(string(b), "\n"+list+" =") {
			t.Errorf("%s was taken away:\n%s", list, b)
		}
	}
}
