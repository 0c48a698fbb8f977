package dashboard

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"fmt"
	"net/http"
	"path"
	"strings"
	"time"
)

//go:embed ui
var files embed.FS

// pagePolicy lets the page load its own files and nothing else.
const pagePolicy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; " +
	"img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

const filesPath = "/ui/"

// isPageFile says that a path is that of the page or of a file of it.
func isPageFile(p string) bool { return p == "/" || strings.HasPrefix(p, filesPath) }

// newPages serves the page and its files. Browsers keep them, and ask each time whether they have changed.
func newPages() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := "index.html"
		if r.URL.Path != "/" {
			name = strings.TrimPrefix(r.URL.Path, filesPath)
		}
		content, err := files.ReadFile(path.Join("ui", path.Base(name)))
		if err != nil || path.Base(name) != name {
			http.NotFound(w, r)
			return
		}
		sum := sha256.Sum256(content)
		h := w.Header()
		h.Set("ETag", fmt.Sprintf(`"%x"`, sum[:12]))
		h.Set("Content-Type", typeOf(name))
		h.Set("Content-Security-Policy", pagePolicy)
		h.Set("Cache-Control", "no-cache")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		http.ServeContent(w, r, name, time.Time{}, bytes.NewReader(content))
	})
}

func typeOf(name string) string {
	switch path.Ext(name) {
	case ".html":
		return "text/html; charset=utf-8"
	case ".css":
		return "text/css; charset=utf-8"
	case ".js":
		return "text/javascript; charset=utf-8"
	case ".svg":
		return "image/svg+xml"
	}
	return "text/plain; charset=utf-8"
}

// Style is the style sheet of the pages, for other pages that look the same.
func Style() string {
	b, err := files.ReadFile("ui/style.css")
	if err != nil {
		panic("BUG: " + err.Error())
	}
	return string(b)
}
