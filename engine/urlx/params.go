package urlx

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
)

// ErrParam says that a name of a parameter is none.
var ErrParam = errors.New("no name of a parameter")

// Params are names of parameters that say nothing about what a URL leads to. The names do not mind case. The zero value
// and nil have none. It is not changed after it is made.
type Params struct {
	names  map[string]struct{}
	begins []string // of names
}

// The lists that have a name of their own.
const (
	// ParamsSession are what servers put into URLs to know a visitor again. No name is here that has other uses.
	ParamsSession = "jsessionid phpsessid aspsessionid* asp.net_sessionid cfid cftoken sessionid session_id sessid zenid oscsid"
	// ParamsTracking are what campaigns put into URLs to know where a visitor came from.
	ParamsTracking = "utm_* gclid dclid fbclid msclkid yclid mc_cid mc_eid igshid _ga _gl"
)

const paramMax = 64 // bytes of a name

// NewParams makes Params of names; one that ends in * is the beginning of names, and session and tracking are the lists above. The
// error is of all that are no names.
func NewParams(list []string) (*Params, error) {
	p := &Params{names: map[string]struct{}{}}
	var faults []error
	for _, name := range list {
		name = strings.ToLower(name)
		switch name {
		case "session":
			p.add(strings.Fields(ParamsSession))
		case "tracking":
			p.add(strings.Fields(ParamsTracking))
		case "", "*":
			faults = append(faults, fmt.Errorf("%w: %q", ErrParam, name))
		default:
			if len(name) > paramMax || strings.ContainsAny(name, "&=;/?# ") || strings.Contains(strings.TrimSuffix(name, "*"), "*") {
				faults = append(faults, fmt.Errorf("%w: %.100q", ErrParam, name))
				continue
			}
			p.add([]string{name})
		}
	}
	return p, errors.Join(faults...)
}

func (p *Params) add(names []string) {
	for _, name := range names {
		if begin, ok := strings.CutSuffix(name, "*"); ok {
			p.begins = append(p.begins, begin)
		} else {
			p.names[name] = struct{}{}
		}
	}
}

// None says that there are no names.
func (p *Params) None() bool { return p == nil || len(p.names)+len(p.begins) == 0 }

// Has says whether a name is among them.
func (p *Params) Has(name []byte) bool {
	if len(name) == 0 || len(name) > paramMax {
		return false
	}
	var room [paramMax]byte
	lower := append(room[:0], name...)
	for i, c := range lower {
		if c >= 'A' && c <= 'Z' {
			lower[i] = c | 0x20
		}
	}
	if _, ok := p.names[string(lower)]; ok {
		return true
	}
	for _, begin := range p.begins {
		if len(lower) > len(begin) && string(lower[:len(begin)]) == begin {
			return true
		}
	}
	return false
}

// Strip takes the parameters out of a normal form, those of its query and those behind semicolons in its path, in place, and returns
// what is left: a normal form. A URL without any is returned as it was.
func (p *Params) Strip(url []byte) []byte {
	at := authority(url)
	slash := bytes.IndexByte(url[at:], '/')
	if p.None() || slash < 0 {
		return url
	}
	at += slash
	if first := bytes.IndexAny(url[at:], "?;"); first < 0 {
		return url
	} else if url[at+first] == ';' {
		url = p.stripPath(url, at+first)
	}
	if ask := bytes.IndexByte(url[at:], '?'); ask >= 0 {
		url = p.stripQuery(url, at+ask)
	}
	return url
}

// stripPath takes out what stands behind semicolons, from at on.
func (p *Params) stripPath(url []byte, at int) []byte {
	out := url[:at]
	for at < len(url) && url[at] != '?' {
		end := at + 1
		for end < len(url) && url[end] != ';' && url[end] != '/' && url[end] != '?' {
			end++
		}
		name, _, _ := bytes.Cut(url[at+1:end], []byte{'='})
		if url[at] != ';' || !p.Has(name) || endsInDots(out) {
			out = append(out, url[at:end]...)
		}
		at = end
	}
	return append(out, url[at:]...)
}

// endsInDots says that the last segment of a path would lead up, or nowhere, if nothing stood behind it. It looks at the last octets only:
// the longest such segment is %2e%2e.
func endsInDots(path []byte) bool {
	tail := path[max(len(path)-len("/%2e%2e"), 0):]
	slash := bytes.LastIndexByte(tail, '/')
	return slash >= 0 && dots(tail[slash+1:]) > 0
}

// stripQuery takes out of the query whose question mark stands at ask, and that with it if nothing else stays.
func (p *Params) stripQuery(url []byte, ask int) []byte {
	out, rest := url[:ask+1], url[ask+1:]
	found, kept := false, false
	for more := true; more; {
		var one []byte
		one, rest, more = bytes.Cut(rest, []byte{'&'})
		name, _, _ := bytes.Cut(one, []byte{'='})
		if p.Has(name) {
			found = true
			continue
		}
		if kept {
			out = append(out, '&')
		}
		out, kept = append(out, one...), true
	}
	switch {
	case !found:
		return url
	case !kept:
		return out[:ask]
	default:
		return out
	}
}
