package simweb

import (
	"bytes"
	"strings"
)

// split takes a URL in normal form apart. It is ours alone: the judge does not use the defendant's arithmetic.
func split(url string) (https bool, authority, path string, ok bool) {
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

// splitPort takes the port off an authority; 0 if there is none. ok is false if it is no number.
func splitPort(authority string) (name string, port int, ok bool) {
	at := strings.LastIndexByte(authority, ':')
	if at < 0 {
		return authority, 0, true
	}
	port, ok = number(authority[at+1:])
	return authority[:at], port, ok
}

// find returns what a URL in normal form names; ok is false if nothing in the world has this name.
func (w *World) find(url string) (target, bool) {
	https, authority, path, ok := split(url)
	if !ok {
		return target{}, false
	}
	t, ok := w.locate(https, authority, path)
	if !ok {
		return target{}, false
	}
	// A host may be asked for in any case, but the normal form is one.
	var scratch [256]byte
	return t, string(w.appendURL(scratch[:0], t)) == url
}

// locate returns what scheme, authority and path name together.
func (w *World) locate(https bool, authority, path string) (target, bool) {
	name, port, ok := splitPort(authority)
	if !ok {
		return target{}, false
	}
	i, ok := w.findHost(name)
	if !ok {
		return w.locateNoHost(https, name, path)
	}
	h := w.hostAt(i)
	if port == 0 {
		port = 80
		if https {
			port = 443
		}
	}
	if h.https != https || h.port != port {
		return target{}, false
	}
	return w.locatePath(&h, path)
}

func (w *World) locateNoHost(https bool, name, path string) (target, bool) {
	rest, ok := strings.CutSuffix(name, "."+w.c.Domain)
	if !ok || https {
		return target{}, false
	}
	n, ok := number(strings.TrimPrefix(rest, "gone-"))
	t := target{host: -1, kind: kindNoHost, page: uint32(n)}
	if !ok || string(w.appendTarget(nil, nil, t)) != path {
		return target{}, false
	}
	return t, true
}

// locatePath finds a path on its host. Every candidate is written again and compared: there is one name for one thing.
func (w *World) locatePath(h *host, path string) (target, bool) {
	if path == "/" {
		return target{host: int32(h.index)}, true
	}
	if path == "/robots.txt" {
		return target{host: int32(h.index), kind: kindRobots}, true
	}
	n, before, ok := lastNumber(path)
	if !ok {
		return target{}, false
	}
	t := target{host: int32(h.index), page: uint32(n)}
	switch {
	case strings.HasPrefix(path, "/~hop/"):
		t.kind = kindHop
	case strings.HasPrefix(path, "/~land/"):
		t.kind = kindLand
	case strings.HasPrefix(path, "/~loop/"):
		t.kind = kindLoop
	case strings.HasPrefix(path, "/nowhere/"):
		t.kind = kindNowhere
	case strings.HasPrefix(path, "/trap/"):
		t.kind = kindTrap
	case strings.HasPrefix(path, "/~robots/"):
		t.kind = kindRobotsOf
	}
	if t.kind == kindHop || t.kind == kindLoop || t.kind == kindTrap {
		k, _, ok := lastNumber(before)
		if !ok || k > 255 {
			return target{}, false
		}
		t.n = uint8(k)
	}
	if !w.exists(h, t) {
		return target{}, false
	}
	var scratch [256]byte
	if !bytes.Equal(w.appendTarget(scratch[:0], h, t), []byte(path)) {
		return target{}, false
	}
	return t, true
}

// exists says whether a target of that host is part of the world.
func (w *World) exists(h *host, t target) bool {
	switch t.kind {
	case kindPage:
		return int(t.page) < h.pages
	case kindHop, kindLand, kindLoop:
		if int(t.page) >= h.pages {
			return false
		}
		f := w.pageAt(h, int(t.page))
		if t.kind == kindLoop {
			return f.shape == shapeRedirectLoop && t.n < loopSteps
		}
		return f.shape == shapeRedirect && int(t.n) < w.hops(h.index, int(t.page)) && (t.kind == kindLand || t.n > 0)
	case kindRobotsOf:
		if int(t.page) >= w.c.Hosts {
			return false
		}
		return w.robotsOf(int(t.page)) == robotsRedirect && w.robotsHome(int(t.page)) == h.index
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
	n, ok = number(s[start:end])
	return n, s[:start], ok
}
