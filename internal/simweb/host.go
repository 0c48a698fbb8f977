package simweb

import (
	"math"
	"strconv"
	"time"

	"orbweaver/internal/simweb/draw"
)

// Latency is the pause before an answer of the host: half to one and a half of the mean.
func (h *Host) Latency() time.Duration {
	mean := h.model.config.Latency
	if mean <= 0 {
		return 0
	}
	r := draw.RNG(h.Hash(saltHost, 1))
	return time.Duration((0.5 + r.Float()) * float64(mean))
}

// ThinkMost is the longest of the pauses that are drawn for each URL, in means: one in 22,000 would be longer.
const ThinkMost = 10

// Think is the further pause before the answer for a URL: exponential, the same for the same URL.
func (h *Host) Think(t Target) time.Duration {
	mean := h.model.config.Think
	if mean <= 0 {
		return 0
	}
	r := draw.RNG(h.Hash(saltThink, int(t.Page)<<8|int(t.Kind)))
	return time.Duration(min(-math.Log(1-r.Float()), ThinkMost) * float64(mean))
}

// ContentType is the value of the header field.
func (c MediaType) ContentType() string {
	return [...]string{"text/html; charset=utf-8", "image/png", "text/css", "application/pdf", "text/javascript"}[c]
}

// Host is what is true of a whole host.
type Host struct {
	model  *Model
	Index  int
	Pages  int // number of pages, at least 1
	HTTPS  bool
	Gzip   bool // packs HTML for clients that accept it
	Port   int
	IsHub  bool   // its first page links to many other hosts
	series uint32 // 0, or what its leaf pages have as Words: they are a series
	// hasFolders says that some leaf pages are in a folder. The page of the folder is unlinked.
	hasFolders bool
	prefix     uint8 // which of hostPrefixes its name begins with
	Tool       Tool
	IsDrawn    bool // a browser must draw the pages of the tool
	Robots     RobotsKind
}

// Most hosts have a bare name, some live under the usual labels.
const hostPrefixes = 8

func hostPrefix(i uint8) string {
	switch i {
	case 0, 1:
		return "www."
	case 2:
		return "blog."
	}
	return ""
}

// HostAt draws the facts of host i.
func (m *Model) HostAt(i int) Host {
	hash := m.Hash(saltHost, i, 0)
	r := draw.RNG(hash)
	h := Host{model: m, Index: i, Pages: m.pagesOf(i), prefix: uint8(r.Below(hostPrefixes))}
	h.Port = m.config.HTTPPort
	if r.Float() < m.config.HTTPSShare {
		h.HTTPS, h.Port = true, m.config.HTTPSPort
	}
	if r.Float() < m.config.AltPortShare {
		h.Port = m.config.AltPort
	}
	h.Gzip = r.Float() < m.config.GzipShare
	h.Robots = m.RobotsKind(i)
	if m.config.HubShare > 0 && i < m.plainHosts() {
		r := draw.RNG(m.Hash(saltHub, i, 0))
		h.IsHub = r.Float() < m.config.HubShare
	}
	if m.config.Tools != (Tools{}) && i < m.outsideFarms() {
		h.drawTool()
	}
	if h.IsDrawn {
		return h // a page that no link leads to could not be found
	}
	if m.config.Series > 0 && i < m.outsideFarms() {
		if r := draw.RNG(m.Hash(saltSeries, i, 0)); r.Float() < m.config.Series {
			h.series = uint32(r.Next()) | 1
		}
	}
	if m.config.Folders > 0 && h.series == 0 && i < m.outsideFarms() {
		r := draw.RNG(m.Hash(saltSeries, i, 1))
		h.hasFolders = r.Float() < m.config.Folders
	}
	return h
}

// IsLeaf reports whether page p has no other page below it in the tree of its host.
func (h *Host) IsLeaf(p int) bool { return p > 0 && p*h.model.config.PageFanout+1 >= h.Pages }

// AppendName appends the name of the host.
func (h *Host) AppendName(dst []byte) []byte {
	dst = append(dst, hostPrefix(h.prefix)...)
	dst = append(dst, 'h')
	dst = strconv.AppendInt(dst, int64(h.Index), 10)
	if farm, _, isFarm := h.model.FarmOf(h.Index); isFarm {
		dst = strconv.AppendInt(append(dst, ".farm"...), int64(farm), 10)
	}
	dst = append(dst, '.')
	return append(dst, h.model.config.Domain...)
}

// DefaultPort reports whether the port of the host is that of its scheme.
func (h *Host) DefaultPort() bool { return h.HTTPS && h.Port == 443 || !h.HTTPS && h.Port == 80 }

// Scheme returns the scheme with its colon.
func (h *Host) Scheme() string {
	if h.HTTPS {
		return "https:"
	}
	return "http:"
}

// AppendOrigin appends scheme, name and, if it is not the scheme's, port.
func (h *Host) AppendOrigin(dst []byte) []byte {
	dst = append(dst, h.Scheme()...)
	dst = append(dst, '/', '/')
	dst = h.AppendName(dst)
	if !h.DefaultPort() {
		dst = append(dst, ':')
		dst = strconv.AppendInt(dst, int64(h.Port), 10)
	}
	return dst
}

// Packs reports whether a page is sent packed to a client that accepts gzip: HTML of a host that does so, unless its
// shape is about another encoding, about size, or about heads.
func (h *Host) Packs(f *Page, s Shape) bool {
	switch s {
	case ShapeGzip, ShapeLyingGzip, ShapeOddHeaders, ShapeHuge:
		return false
	}
	return h.Gzip && f.Media == MediaHTML
}

// Hash draws for a page of the host.
func (h *Host) Hash(salt, page int) uint64 { return h.model.Hash(salt, h.Index, page) }

// Edition is the last edition that a page changed in, 0 for none. Only HTML with a payload of its own changes.
func (h *Host) Edition(t Target, f *Page) int {
	m := h.model
	if m.config.Changing == 0 || f.Media != MediaHTML || f.Copy > 0 && t.Kind == KindPage {
		return 0
	}
	for e := m.config.Edition; e > 0; e-- {
		r := draw.RNG(h.Hash(saltEdition+e<<8, int(t.Page)) + uint64(t.Kind))
		if r.Float() < m.config.Changing {
			return e
		}
	}
	return 0
}

// A ValidatorSet says which header fields of a page a conditional request can name.
type ValidatorSet uint8

// The sets.
const (
	OnlyModified ValidatorSet = iota // Last-Modified
	OnlyTag                          // ETag
	bothValidators
	validatorSets
)

// Validators draws the validators of the host's pages; ok is false if they have none.
func (h *Host) Validators() (set ValidatorSet, ok bool) {
	share := h.model.config.Validators
	if share == 0 {
		return 0, false
	}
	r := draw.RNG(h.Hash(SaltValidators, 0))
	if r.Float() >= share {
		return 0, false
	}
	return ValidatorSet(r.Below(int(validatorSets))), true
}

// away draws a host that has others hanging on it and so is never denied.
func (m *Model) away(hash uint64) int {
	r := draw.RNG(hash)
	return max(0, r.Zipf(m.plainHosts())-1) / m.config.HostFanout
}

// RobotsKind draws a host's kind of robots.txt. The loss of a host that denies all loses no other host.
func (m *Model) RobotsKind(i int) RobotsKind {
	k := RobotsKind(m.robots.Draw(m.Hash(SaltRobots, i, 0)))
	from, to := m.below(i)
	if isLeaf := i > 0 && from == to; k.DeniesAll() && !isLeaf {
		return robotsAllowAll
	}
	return k
}

// RobotsHome is the host that keeps the robots.txt of host i, if that redirects.
func (m *Model) RobotsHome(i int) int { return m.away(m.Hash(SaltRobots, i, 1)) }

// CrawlDelay is what the host's robots.txt asks for.
func (h *Host) CrawlDelay() time.Duration {
	if h.Robots == RobotsCrawlDelay {
		return h.model.config.Timing.CrawlDelay
	}
	return 0
}
