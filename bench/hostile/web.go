package hostile

import (
	"bytes"
	"fmt"
	"net"
	"net/netip"
	"orbweaver/internal/simweb"
	"strconv"
	"strings"
	"sync"
)

// domain is the top-level domain of all cases; no name below it can be registered.
const domain = ".test"

// Web plays some cases as a guest of a world. It is safe for concurrent use.
type Web struct {
	cases map[string]*Case // by the lower-case id
	hosts map[string]*Case // by the whole name: Case.Hosts

	mu       sync.Mutex
	requests map[string]int // URLs, how often
}

// askedMax bounds what a Web remembers; beyond it every URL is asked for the first time.
const askedMax = 1 << 20

// New makes a web of cases by their ids; of one that is not known, or that no server can play, it is an error.
func New(ids ...string) (*Web, error) {
	w := &Web{cases: map[string]*Case{}, hosts: map[string]*Case{}, requests: map[string]int{}}
	all := Cases()
	for _, id := range ids {
		c := all[strings.ToUpper(id)]
		if c == nil {
			return nil, fmt.Errorf(
				"hostile: no case %q can be played: `orbweaver-bench sim --hostile list` shows those that can",
				id,
			)
		}
		w.cases[strings.ToLower(c.ID)] = c
		for _, h := range c.Hosts {
			w.hosts[h] = c
		}
	}
	return w, nil
}

// Seeds are the URLs to begin with, of so many hosts of each case: h01.test, h01-1.test, h01-2.test ...
func (w *Web) Seeds(hosts int) []string {
	var seeds []string
	for id, c := range w.cases {
		for n := range hosts {
			name := id
			if n > 0 {
				name += "-" + strconv.Itoa(n)
			}
			for _, path := range c.seeds() {
				if strings.HasPrefix(path, "/") {
					seeds = append(seeds, "http://"+name+domain+path)
				} else if n == 0 {
					seeds = append(seeds, path)
				}
			}
		}
	}
	return seeds
}

func (c *Case) seeds() []string {
	if len(c.Seeds) == 0 {
		return []string{"/"}
	}
	return c.Seeds
}

// Host implements simweb.Guest.
func (w *Web) Host(name string) (address netip.Addr, ok bool) {
	return netip.Addr{}, w.caseOf(name) != nil
}

// caseOf finds the case of a host: its own name, a numbered one, or what is below them.
func (w *Web) caseOf(host string) *Case {
	if c := w.hosts[host]; c != nil {
		return c
	}
	name, ok := strings.CutSuffix(host, domain)
	if !ok {
		return nil
	}
	id := name[strings.LastIndexByte(name, '.')+1:]
	id, number, numbered := strings.Cut(id, "-")
	if _, err := strconv.Atoi(number); numbered && err != nil {
		return nil
	}
	return w.cases[id]
}

// Serve implements simweb.Guest.
func (w *Web) Serve(conn net.Conn, r simweb.GuestRequest) simweb.GuestResult {
	method, _, _ := bytes.Cut(r.Head, []byte(" "))
	host, _, _ := strings.Cut(r.Authority, ":")
	x := &Exchange{
		Conn:   conn,
		TLS:    r.TLS,
		Before: r.Before,
		Method: string(method),
		Host:   host,
		Path:   r.Path,
		Head:   r.Head,
		Rest:   r.Rest,
		Time:   w.again(r.Authority + r.Path),
	}
	c := w.caseOf(host)
	switch {
	case r.Path != "/robots.txt":
		c.Play(x)
	case c.Robots != nil:
		c.Robots(x)
	default:
		x.Keep = x.Page("404 Not Found", "", "")
	}
	return simweb.GuestResult{Status: x.status, Keep: x.Keep, Cut: x.clientGone}
}

// again counts.
func (w *Web) again(url string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := w.requests[url]
	if n > 0 || len(w.requests) < askedMax {
		w.requests[url] = n + 1
	}
	return n
}
