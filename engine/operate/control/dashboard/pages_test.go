package dashboard

import (
	"io/fs"
	"net/http"
	"net/http/httptest"
	"path"
	"regexp"
	"strings"
	"testing"
)

// uiMost is how much the files of the page may be, in bytes, and filesMost how many.
const (
	uiMost    = 150 << 10
	filesMost = 25
)

// eachFile calls f with the name and the text of each file of the page.
func eachFile(t *testing.T, f func(name, text string)) {
	t.Helper()
	entries, err := fs.ReadDir(files, "ui")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		text, err := files.ReadFile(path.Join("ui", e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		f(e.Name(), string(text))
	}
}

func getFile(p string, header ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodGet, p, nil)
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	newPages().ServeHTTP(w, r)
	return w
}

// The page loads its own files and nothing else; no other page frames it; a browser asks again for what has changed.
func TestPages_loadNothingFromOutside(t *testing.T) {
	size, number := 0, 0
	eachFile(t, func(name, text string) {
		size += len(text)
		number++
		w := getFile(filesPath + name)
		h := w.Header()
		if w.Code != http.StatusOK || w.Body.String() != text || strings.HasPrefix(h.Get("Content-Type"), "text/plain") {
			t.Errorf("%s: %d %s", name, w.Code, h.Get("Content-Type"))
		}
		policy := h.Get("Content-Security-Policy")
		for _, want := range []string{
			"default-src 'none'", "script-src 'self'", "form-action 'none'", "frame-ancestors 'none'",
		} {
			if !strings.Contains(policy, want) {
				t.Errorf("%s: %s", name, policy)
			}
		}
		if strings.Contains(policy, "unsafe") {
			t.Errorf("%s: %s", name, policy)
		}
		if again := getFile(filesPath+name, "If-None-Match", h.Get("ETag")); again.Code != http.StatusNotModified {
			t.Errorf("%s: asked for again: %d", name, again.Code)
		}
		for _, address := range regexp.MustCompile(`(https?:)?//[a-z0-9.-]+\.[a-z]+`).FindAllString(text, -1) {
			if address != "http://www.w3.org" && address != "https://example.org" {
				t.Errorf("%s refers to %s", name, address)
			}
		}
	})
	if size > uiMost || number > filesMost {
		t.Errorf("%d files of %d bytes", number, size)
	}
}

// What servers wrote is never parsed as markup or run: the scripts of the page lack the means.
func TestHostile_A02_scriptsOfThePageSetTextAlone(t *testing.T) {
	forbidden := regexp.MustCompile(`innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(|new Function|srcdoc|` +
		`DOMParser|createContextualFragment|\.style\s*=|javascript:`)
	inline := regexp.MustCompile(`<script[^>]*>[^<]|\son[a-z]+=|<style|\sstyle=`)
	eachFile(t, func(name, text string) {
		if found := forbidden.FindString(text); found != "" && strings.HasSuffix(name, ".js") {
			t.Errorf("%s uses %s", name, found)
		}
		if found := inline.FindString(text); found != "" && strings.HasSuffix(name, ".html") {
			t.Errorf("%s has %s", name, found)
		}
	})
}

// Nothing but the files of the page is served.
func TestPages_serveTheirOwnFilesAlone(t *testing.T) {
	for _, p := range []string{
		"/ui/", "/ui/../gate.go", "/ui/ui/main.js", "/ui/..", "/ui/none.js", "/ui/.", "/ui/x/../main.js",
	} {
		if w := getFile(p); w.Code != http.StatusNotFound {
			t.Errorf("%s: %d", p, w.Code)
		}
	}
}
