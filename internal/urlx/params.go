package urlx

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// ErrParam is wrapped by the errors of NewParams: a string is not the name of a parameter.
var ErrParam = errors.New("no name of a parameter")

// Params is a set of names of URL parameters that do not change the content of a page. Case does not matter. The zero
// value is the empty set. It does not change after NewParams, and is safe for concurrent use.
type Params struct {
	names    map[string]struct{}
	prefixes []string // names that begin like this
	form     Form     // that Strip gives to URLs, too
}

// The lists that the names "session" and "tracking" stand for.
const (
	// ParamsSession are parameters with which servers identify a session. It contains no name that has other uses.
	ParamsSession = "jsessionid phpsessid aspsessionid* asp.net_sessionid cfid cftoken sessionid session_id sessid " +
		"zenid oscsid"
	// ParamsTracking are parameters with which campaigns record where a visitor came from.
	ParamsTracking = "utm_* gclid dclid fbclid msclkid yclid mc_cid mc_eid igshid _ga _gl"
)

const paramMax = 64 // largest length of a name, in bytes

// NewParams returns the set of the names in list. A name that ends in * stands for all names that begin like this;
// "session" and "tracking" stand for the lists above. The error names every invalid entry; the set then has the valid
// ones.
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
			if len(name) > paramMax || strings.ContainsAny(name, "&=;/?# ") ||
				strings.Contains(strings.TrimSuffix(name, "*"), "*") {
				faults = append(faults, fmt.Errorf("%w: %.100q", ErrParam, name))
				continue
			}
			p.add([]string{name})
		}
	}
	return p, errors.Join(faults...)
}

// As returns a copy whose Strip also gives a URL the form.
func (p *Params) As(form Form) *Params {
	q := &Params{names: maps.Clone(p.names), prefixes: slices.Clone(p.prefixes), form: form}
	if form == Archive {
		q.add(strings.Fields(ParamsSession))
	}
	return q
}

func (p *Params) add(names []string) {
	for _, name := range names {
		if begin, ok := strings.CutSuffix(name, "*"); ok {
			p.prefixes = append(p.prefixes, begin)
		} else {
			if p.names == nil {
				p.names = map[string]struct{}{}
			}
			p.names[name] = struct{}{}
		}
	}
}

// Has reports whether name is in the set.
func (p *Params) Has(name []byte) bool {
	if len(name) == 0 || len(name) > paramMax {
		return false
	}
	var buf [paramMax]byte
	lower := append(buf[:0], name...)
	for i, c := range lower {
		if c >= 'A' && c <= 'Z' {
			lower[i] = c | 0x20
		}
	}
	if _, ok := p.names[string(lower)]; ok {
		return true
	}
	for _, begin := range p.prefixes {
		if len(lower) > len(begin) && string(lower[:len(begin)]) == begin {
			return true
		}
	}
	return false
}

// Strip removes the parameters from a normal form: those in the query and those after semicolons in the path. It
// changes url in place and returns the rest, which is a normal form. A URL without such parameters is returned
// unchanged, unless As has named a form.
func (p *Params) Strip(url []byte) []byte { return p.form.apply(p.strip(url)) }

// Form is the form that Strip gives to URLs.
func (p *Params) Form() Form { return p.form }

func (p *Params) strip(url []byte) []byte {
	at := authority(url)
	slash := bytes.IndexByte(url[at:], '/')
	if len(p.names)+len(p.prefixes) == 0 || slash < 0 {
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

// stripPath removes path parameters after semicolons, from offset at.
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

// endsInDots reports whether the last segment of a path would become a dot segment without what follows it. The longest
// such segment is %2e%2e, so it checks the last bytes only.
func endsInDots(path []byte) bool {
	tail := path[max(len(path)-len("/%2e%2e"), 0):]
	slash := bytes.LastIndexByte(tail, '/')
	return slash >= 0 && dots(tail[slash+1:]) > 0
}

// stripQuery removes parameters from the query whose question mark is at offset ask. It removes the question mark too
// if nothing remains.
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
