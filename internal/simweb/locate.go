package simweb

import (
	"bytes"
	"strconv"
	"strings"
)

// SplitURL takes a URL in normal form apart. It shares no code with the crawler, so that the same error is not made
// twice.
func SplitURL(url string) (https bool, authority, path string, ok bool) {
	rest, ok := strings.CutPrefix(url, "http://")
	if !ok {
		if rest, ok = strings.CutPrefix(url, "https://"); !ok {
			return false, "", "", false
		}
		https = true
	}
	at := strings.IndexAny(rest, "/?")
	if at < 0 {
		return https, rest, "/", true
	}
	return https, rest[:at], rest[at:], true
}

// SplitPort takes the port off an authority; 0 if there is none. ok is false if the port is no number.
func SplitPort(authority string) (name string, port int, ok bool) {
	at := strings.LastIndexByte(authority, ':')
	if at < 0 {
		return authority, 0, true
	}
	port, ok = ParseNumber(authority[at+1:])
	return authority[:at], port, ok
}

// Find returns what a URL in normal form names; ok is false if nothing in the world has this name.
func (m *Model) Find(url string) (Target, bool) {
	https, authority, path, ok := SplitURL(url)
	if !ok {
		return Target{}, false
	}
	t, ok := m.Locate(https, authority, path)
	if !ok {
		return Target{}, false
	}
	// A host may be asked for in any case, but the normal form is one.
	var scratch [256]byte
	return t, string(m.AppendURL(scratch[:0], t)) == url
}

// Locate returns what scheme, authority and path name together.
func (m *Model) Locate(https bool, authority, path string) (Target, bool) {
	name, port, ok := SplitPort(authority)
	if !ok {
		return Target{}, false
	}
	i, ok := m.FindHost(name)
	if !ok {
		return m.locateNoHost(https, name, path)
	}
	h := m.HostAt(i)
	if port == 0 {
		port = 80
		if https {
			port = 443
		}
	}
	if h.HTTPS != https || h.Port != port {
		return Target{}, false
	}
	return h.locate(path)
}

func (m *Model) locateNoHost(https bool, name, path string) (Target, bool) {
	rest, ok := strings.CutSuffix(name, "."+m.config.Domain)
	if !ok || https {
		return Target{}, false
	}
	n, ok := ParseNumber(strings.TrimPrefix(rest, "gone-"))
	t := Target{Host: -1, Kind: KindNoHost, Page: uint32(n)}
	if !ok || string((&Host{}).AppendPath(nil, t)) != path {
		return Target{}, false
	}
	return t, true
}

// Locate finds a path on its host. Every candidate is written again and compared: there is one name for one thing.
func (h *Host) locate(path string) (Target, bool) {
	if path == "/" {
		return Target{Host: int32(h.Index)}, true
	}
	if path == "/robots.txt" {
		return Target{Host: int32(h.Index), Kind: KindRobots}, true
	}
	var scratch [256]byte
	if h.Tool != NoTool && string(h.appendBundlePath(scratch[:0])) == path {
		return Target{Host: int32(h.Index), Kind: KindBundle}, true
	}
	n, before, ok := lastNumber(path)
	if !ok {
		return Target{}, false
	}
	t := Target{Host: int32(h.Index), Page: uint32(n)}
	switch {
	case strings.HasPrefix(path, "/~hop/"):
		t.Kind = KindHop
	case strings.HasPrefix(path, "/~land/"):
		t.Kind = KindLand
	case strings.HasPrefix(path, "/~loop/"):
		t.Kind = KindLoop
	case strings.HasPrefix(path, "/nowhere/"):
		t.Kind = KindNowhere
	case strings.HasPrefix(path, "/trap/"):
		t.Kind = KindTrap
	case strings.HasPrefix(path, "/~robots/"):
		t.Kind = KindRobotsOf
	}
	if t.Kind == KindHop || t.Kind == KindLoop || t.Kind == KindTrap {
		k, _, ok := lastNumber(before)
		if !ok || k > 255 {
			return Target{}, false
		}
		t.Step = uint8(k)
	}
	if !h.has(t) {
		return Target{}, false
	}
	if !bytes.Equal(h.AppendPath(scratch[:0], t), []byte(path)) {
		return Target{}, false
	}
	return t, true
}

// has says whether a target of that host is part of the world.
func (h *Host) has(t Target) bool {
	m := h.model
	switch t.Kind {
	case KindPage:
		return int(t.Page) < h.Pages
	case KindHop, KindLand, KindLoop:
		if int(t.Page) >= h.Pages {
			return false
		}
		f := h.PageAt(int(t.Page))
		if t.Kind == KindLoop {
			return f.Shape == shapeRedirectLoop && t.Step < loopSteps
		}
		return f.Shape == shapeRedirect && int(t.Step) < h.hops(int(t.Page)) && (t.Kind == KindLand || t.Step > 0)
	case KindRobotsOf:
		if int(t.Page) >= m.config.Hosts {
			return false
		}
		return m.RobotsKind(int(t.Page)) == RobotsRedirect && m.RobotsHome(int(t.Page)) == h.Index
	}
	return true
}

// lastNumber returns the last run of digits in s that reads as a number, and what is before it.
func lastNumber(s string) (n int, before string, ok bool) {
	end := len(s)
	for end > 0 && (s[end-1] < '0' || s[end-1] > '9') {
		end--
	}
	start := end
	for start > 0 && s[start-1] >= '0' && s[start-1] <= '9' {
		start--
	}
	n, ok = ParseNumber(s[start:end])
	return n, s[:start], ok
}

// AppendPath appends the path and query of any target but KindUnknown and KindGuest, in normal form.
func (h *Host) AppendPath(dst []byte, t Target) []byte {
	numbers := func(before string, n int, after string) []byte {
		dst = append(dst, before...)
		if n >= 0 {
			dst = strconv.AppendInt(dst, int64(n), 10)
			dst = append(dst, '/')
		}
		dst = strconv.AppendInt(dst, int64(t.Page), 10)
		return append(dst, after...)
	}
	switch t.Kind {
	case KindPage:
		f := h.PageAt(int(t.Page))
		return appendPagePath(dst, int(t.Page), &f)
	case KindHop:
		return numbers("/~hop/", int(t.Step), "")
	case KindLand:
		return numbers("/~land/", -1, ".html")
	case KindLoop:
		return numbers("/~loop/", int(t.Step), "")
	case KindNowhere, KindNoHost:
		return numbers("/nowhere/", -1, ".html")
	case KindTrap:
		return numbers("/trap/", int(t.Step), "")
	case KindRobots:
		return append(dst, "/robots.txt"...)
	case KindRobotsOf:
		return numbers("/~robots/", -1, ".txt")
	case KindBundle:
		return h.appendBundlePath(dst)
	}
	panic("BUG: simweb: path of an unknown target")
}

// AppendURL appends the normal form of a target's URL.
func (m *Model) AppendURL(dst []byte, t Target) []byte {
	if t.Kind == KindNoHost {
		dst = append(dst, "http://"...)
		dst = append(dst, "gone-"...)
		dst = strconv.AppendInt(dst, int64(t.Page), 10)
		dst = append(dst, '.')
		dst = append(dst, m.config.Domain...)
		return (&Host{}).AppendPath(dst, t)
	}
	h := m.HostAt(int(t.Host))
	return h.AppendPath(h.AppendOrigin(dst), t)
}
