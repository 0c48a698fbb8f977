package replay

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"path"
	"strconv"
	"strings"
	"time"

	"orbweaver/internal/vfs"
)

// Player shows the archive of a Handler in ReplayWeb.page, which runs the scripts of pages in the browser. It needs an
// origin of its own, since these scripts can read all that its server serves. It is safe for concurrent use.
//
// ReplayWeb.page reads a WACZ file itself, by parts. Of other archives it asks for each payload at /TIMEid_/URL. So
// archives of any size and with any number of files work, also while they grow.
type Player struct {
	h     *Handler
	o     PlayerOptions
	files map[string]string // names of WACZ files by their paths here
	first string            // path of the WACZ to open; "" if there is none
}

// PlayerOptions say where a Player is, and what it serves.
type PlayerOptions struct {
	Address    string // of the Player: http://HOST:PORT
	List       string // of the Handler, as Address
	UI, Worker []byte // ui.js and sw.js of ReplayWeb.page

	FS vfs.FS
	// Packages are a WACZ file, or a list of several and then the files that it names. Without any, ReplayWeb.page asks
	// for payloads.
	Packages []string
}

// NewPlayer returns the Player of an archive.
func NewPlayer(h *Handler, o PlayerOptions) *Player {
	p := &Player{h: h, o: o, files: map[string]string{}}
	total := int64(0)
	for _, name := range o.Packages {
		size, _ := o.FS.Size(name) // opening it says what is wrong
		total += size
	}
	for i, name := range o.Packages {
		beside := strings.TrimPrefix(name, path.Dir(o.Packages[0])+"/")
		at := fmt.Sprintf("/wacz/%d/%s", total, beside) // the browser keeps the index of a file by its address
		if p.files[at] = name; i == 0 {
			p.first = at
		}
	}
	return p
}

// Policies of what ReplayWeb.page consists of, and of the archived pages that it shows. Nothing is loaded from another
// origin.
const (
	playerPolicy = "default-src 'none'; script-src 'self' 'unsafe-inline' 'wasm-unsafe-eval'; connect-src 'self'; " +
		"style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; font-src 'self' data:; frame-src 'self'; " +
		"worker-src 'self' blob:; base-uri 'none'; form-action 'self'; "
	playedPolicy = "default-src 'self' data: blob: mediastream: 'unsafe-inline' 'unsafe-eval'; form-action 'self'; " +
		"object-src 'none'"
)

// tooEarly is at /replay/, where the service worker answers when it is active. ReplayWeb.page may
// open its frame earlier.
const tooEarly = "<!doctype html><script>navigator.serviceWorker.ready.then(() => location.reload())</script>"

// ServeHTTP answers.
func (p *Player) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	done, ok := p.h.admit(w, r)
	if !ok {
		return
	}
	defer done()
	header := w.Header()
	header.Set("Content-Security-Policy", playerPolicy+"frame-ancestors 'self'")
	switch at := pathOf(r); at {
	case "/":
		p.serveStart(w, r)
	case "/ui.js", "/replay/ui.js", "/replay/sw.js":
		text := p.o.UI
		if path.Base(at) == "sw.js" {
			text = p.o.Worker
		}
		header.Set("Content-Type", "text/javascript; charset=utf-8")
		_, _ = w.Write(text) // the browser may be gone
	case "/replay/":
		header.Set("Content-Type", "text/html; charset=utf-8")
		_, _ = io.WriteString(w, tooEarly) // as above
	default:
		if name, ok := p.files[r.URL.Path]; ok {
			p.serveFile(w, r, name)
			return
		}
		t, ok := parseTarget(r.RequestURI)
		if !ok {
			http.NotFound(w, r)
			return
		}
		t.raw, t.isPlayed = true, true
		p.h.serveCapture(w, r, t)
	}
}

// serveFile serves a WACZ file, or a part of it.
func (p *Player) serveFile(w http.ResponseWriter, r *http.Request, name string) {
	file, err := p.o.FS.Open(name)
	if err != nil {
		p.h.fail(w, err)
		return
	}
	defer func() { _ = file.Close() }() // it was only read
	size, err := file.Size()
	if err != nil {
		p.h.fail(w, err)
		return
	}
	w.Header().Set("Content-Type", "application/octet-stream")
	if strings.HasSuffix(name, ".json") {
		w.Header().Set("Content-Type", "application/json")
	}
	http.ServeContent(w, r, "", time.Time{}, io.NewSectionReader(file, 0, size))
}

// serveStart shows ReplayWeb.page, at a capture if one is asked for.
func (p *Player) serveStart(w http.ResponseWriter, r *http.Request) {
	shown := &page{
		Heading: "Archive " + p.h.o.Name, URL: r.URL.Query().Get("url"), Stamp: r.URL.Query().Get("ts"),
		Home: p.o.List, Source: p.first,
	}
	if p.first == "" {
		for _, seed := range p.h.o.Seeds[:min(seedsTried, len(p.h.o.Seeds))] {
			if shown.URL == "" && p.h.hasCapture(r, seed) {
				shown.URL = seed
			}
		}
		if shown.URL == "" { // there is no list of pages but ours
			redirect(w, p.o.List+"/")
			return
		}
		// The configuration says where it is. The browser keeps nothing of such a collection, so it may have any name.
		shown.Source, shown.Collection = "proxy://archive", "archive"
	}
	config, err := json.Marshal(map[string]any{
		"type": "live", "isLive": false, "prefix": p.o.Address + "/", "archiveMod": "id_", "csp": playedPolicy,
	})
	if p.first != "" {
		config, err = json.Marshal(map[string]string{"csp": playedPolicy})
	}
	if err != nil {
		panic("BUG: " + err.Error())
	}
	shown.Config = string(config)
	p.h.show(w, "player", http.StatusOK, shown)
}

// sayRedirect tells ReplayWeb.page that a capture is a redirect. A browser does not show a script the address of one.
func sayRedirect(w http.ResponseWriter, status int, to string) {
	w.Header().Set("X-Redirect-Status", strconv.Itoa(status))
	w.Header().Set("X-Orig-Location", to)
}

// missingHere is what ReplayWeb.page shows in place of a page that is missing.
const missingHere = "<!doctype html><title>Not in the archive</title><h1>Not in the archive</h1>"

func sayMissingPlayed(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(http.StatusNotFound)
	_, _ = io.WriteString(w, missingHere) // the browser may be gone
}

// LoadPlayer reads the files of ReplayWeb.page in a directory: those of its npm package.
func LoadPlayer(disk vfs.FS, dir string) (ui, worker []byte, err error) {
	if ui, err = vfs.ReadFile(disk, path.Join(dir, "ui.js")); err == nil {
		worker, err = vfs.ReadFile(disk, path.Join(dir, "sw.js"))
	}
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%w: %w", errNoPlayer, err)
	}
	return ui, worker, err
}

// errNoPlayer says how to get ReplayWeb.page.
var errNoPlayer = errors.New("ReplayWeb.page is not there: 'npm install --ignore-scripts replaywebpage' puts it into " +
	"node_modules/replaywebpage, the directory to give")
