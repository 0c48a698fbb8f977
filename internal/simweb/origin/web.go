package origin

import (
	"io"
	"iter"
	"net/netip"
	"strings"
	"sync"

	"orbweaver/internal/simweb"
	"orbweaver/internal/simweb/arrivals"
	"orbweaver/internal/simweb/content"
	"orbweaver/internal/simweb/judge"
)

// Web is one simulated web: its model, the bytes of its pages, its guests, and the servers of its hosts. It is safe
// for concurrent use; it remembers nothing but the tries of pages that fail once.
type Web struct {
	*simweb.Model
	config  simweb.Config
	writer  *content.Writer
	guests  simweb.Guests
	discard *arrivals.Log // for connections that are not logged
	buffers sync.Pool     // *buffer
	sheets  sync.Pool     // *sheet

	mu    sync.Mutex
	tries map[simweb.Target]uint32 // requests for pages that fail at the first try
}

// New makes the web of a configuration; what it leaves out gets its default.
func New(c simweb.Config) (*Web, error) {
	m, err := simweb.NewModel(c)
	if err != nil {
		return nil, err
	}
	return newWeb(m, content.NewWriter(m)), nil
}

func newWeb(m *simweb.Model, writer *content.Writer) *Web {
	w := &Web{Model: m, config: m.Config(), writer: writer, tries: make(map[simweb.Target]uint32)}
	w.discard = arrivals.NewDiscardLog(m, w)
	w.buffers.New = func() any { return new(buffer) }
	w.sheets.New = func() any { return new(sheet) }
	return w
}

// Forget makes the pages that fail at the first try fail again, as in a new web.
func (w *Web) Forget() {
	w.mu.Lock()
	clear(w.tries)
	w.mu.Unlock()
}

// Again returns an equal web without guests that remembers what the log tells: pages that fail at the first try have
// had it.
func (w *Web) Again(l *arrivals.Log) *Web {
	again := newWeb(w.Model, w.writer)
	for t := range l.Targets() {
		if t.Host >= 0 && t.Kind == simweb.KindPage {
			again.tries[t]++
		}
	}
	return again
}

// Invite adds a guest to the web, before anything is served.
func (w *Web) Invite(g simweb.Guest) { w.guests = append(w.guests, g) }

// HasGuest reports whether an authority names a host of a guest.
func (w *Web) HasGuest(authority string) bool { return w.guests.Has(authority) }

// AddrOf returns the address of a host of the model or of a guest, and the zero Addr for other names. A guest that says
// no address of its own gets one by the formula of the model.
func (w *Web) AddrOf(name string) netip.Addr {
	if addr := w.Model.AddrOf(name); addr.IsValid() {
		return addr
	}
	name = strings.ToLower(strings.TrimSuffix(name, "."))
	_, addr, ok := w.guests.Find(name)
	if ok && !addr.IsValid() {
		return w.FormulaAddr(name)
	}
	return addr
}

// NewLog makes an empty log of this web.
func (w *Web) NewLog() *arrivals.Log { return arrivals.NewLog(w.Model, w) }

// ReadLog reads what Log.Write wrote, of a server of the same web.
func (w *Web) ReadLog(in io.Reader) (*arrivals.Log, error) {
	l := w.NewLog()
	return l, l.Read(in)
}

// Expected walks the model of the web, not its bytes, breadth first from the seeds.
func (w *Web) Expected(o judge.ExpectOptions) *judge.Truth { return judge.Expected(w.Model, o) }

// Judge compares the log and the archive with the truth. With crawled nil what the server answered whole counts as
// stored.
func (w *Web) Judge(log *arrivals.Log, p judge.Promise, crawled iter.Seq[judge.Capture]) judge.Verdict {
	return judge.Judge(w.Model, w.writer, log, p, crawled)
}

// Payload returns the bytes that a whole answer with status 200 carries as its payload, without chunking, with content
// encoding, for a client that says that it accepts gzip or one that says nothing. ok is false if the URL has no such
// answer.
func (w *Web) Payload(url string, gzip bool) (payload []byte, ok bool) {
	t, ok := w.Find(url)
	if !ok {
		return nil, false
	}
	return w.writer.AppendPayload(nil, new(content.Document), t, gzip)
}

// EachLink calls f with what a page links to, in the order of its bytes, and says whether the page embeds its target:
// an image, a style sheet, a frame. d is scratch space.
func (w *Web) EachLink(d *content.Document, t simweb.Target, f func(to simweb.Target, isPart bool)) {
	h := w.HostAt(int(t.Host))
	page := h.FactsOf(t)
	if page.Shape == simweb.ShapeHuge || page.Copy > 0 {
		for _, l := range h.AppendLinks(nil, t, &page) {
			f(l.Target, false)
		}
		return
	}
	w.writer.AppendBody(nil, d, &h, t, &page)
	d.EachLink(f)
}

// firstTry returns the fault at the first request for a page and no fault later.
func (w *Web) firstTry(t simweb.Target, fault simweb.Shape) simweb.Shape {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.tries[t]++
	if w.tries[t] == 1 {
		return fault
	}
	return simweb.ShapePlain
}
