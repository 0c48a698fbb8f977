package simweb

import (
	"strconv"

	"orbweaver/internal/simweb/draw"
)

// Tools is how many hosts have pages that frameworks of JavaScript make. All of it is 0 by default.
type Tools struct {
	// Drawn is the share of hosts whose pages are drawn by a browser: neither text nor links are there before scripts run.
	// Only hosts without others below them in the tree of hosts are.
	Drawn  float64
	Served float64 // share of the other hosts: their pages look like those, and have text and links from the server
}

// Tool is what makes the pages of a host.
type Tool uint8

// The tools. NoTool writes plain HTML.
const (
	NoTool Tool = iota
	ToolReact
	ToolVite
	ToolNext
	ToolNextStream // the app router of Next.js
	ToolNuxt
	ToolAngular
	ToolSvelte
	ToolNoscript // an own one, whose page asks for JavaScript and has no known root element
	ToolElements // an own one with an element of its own
	ToolCount
)

// drawTool draws the tool of the host.
func (h *Host) drawTool() {
	m := h.model
	r := draw.RNG(m.Hash(saltTool, h.Index, 0))
	from, to := m.below(h.Index)
	switch {
	case r.Float() < m.config.Drawn && h.Index > 0 && from == to:
		h.IsDrawn = true
	case r.Float() >= m.config.Served:
		return
	}
	h.Tool = 1 + Tool(r.Below(int(ToolCount)-1))
}

// IsOfTool reports whether the tool of the host makes a page. Payloads that other hosts have, too, are of no tool.
func (h *Host) IsOfTool(t Target, f *Page) bool {
	return h.Tool != NoTool && (t.Kind == KindLand ||
		t.Kind == KindPage && f.Media == MediaHTML && f.Copy == 0 && !f.Shape.IsLost())
}

// NeedsBrowser reports whether a browser must draw what a target names.
func (m *Model) NeedsBrowser(t Target) bool {
	if m.config.Drawn == 0 || t.Kind != KindPage && t.Kind != KindLand {
		return false
	}
	h := m.HostAt(int(t.Host))
	f := h.PageAt(int(t.Page))
	return h.IsDrawn && h.IsOfTool(t, &f)
}

// DrawnHosts counts the hosts whose pages a browser must draw. It is 0 in worlds of more than a million hosts.
func (m *Model) DrawnHosts() (n int) {
	if m.config.Drawn == 0 || m.config.Hosts > 1_000_000 {
		return 0
	}
	for i := range m.outsideFarms() {
		if h := m.HostAt(i); h.IsDrawn {
			n++
		}
	}
	return n
}

// appendBundlePath appends the path of the script that all pages of the tool load. The name has a hash.
func (h *Host) appendBundlePath(dst []byte) []byte {
	dst = append(dst, [ToolCount]string{
		"/", "/static/js/main.", "/assets/index-", "/_next/static/chunks/main-", "/_next/static/chunks/main-app-",
		"/_nuxt/entry.", "/main-", "/_app/immutable/entry/start.", "/js/app.", "/build/shop-",
	}[h.Tool]...)
	// The first digit of the hash is a letter, and the last is none: then it cannot be taken for a word or a number.
	hash := h.Hash(saltTool, 1)>>32 | 0xa000_0000
	return append(strconv.AppendUint(dst, hash&^8, 16), ".js"...)
}

// FactsOf returns the facts of a page, of the page that a landing page belongs to, or of a script.
func (h *Host) FactsOf(t Target) Page {
	if t.Kind == KindBundle {
		return Page{Media: MediaScript}
	}
	return h.PageAt(int(t.Page))
}
