package login

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"io"
	"strings"
	"sync"

	"orbweaver/internal/textfile"
	"orbweaver/internal/urlx"
)

// Logins are names and passwords by host. The zero value has none. Safe for concurrent use.
type Logins struct {
	hosts map[string][]byte // lines of a request's head, by host in normal form; they do not change after Add
	count int               // of entries

	mu    sync.RWMutex
	sites map[string][]byte // the same by site; guarded by mu
}

// hostsMax is how many hosts a file may name.
const hostsMax = 100_000

// Add reads a file in the form of netrc, before the first use: words "machine HOST login NAME password PASSWORD". A
// site, such as http://example.org:8080, may stand in place of HOST. Lines that begin with # are comments. A default
// entry is a fault, since it would send a password to every host. Errors name the line. If two files name a host, the
// later one decides.
func (l *Logins) Add(r io.Reader) error {
	if l.hosts == nil {
		l.hosts, l.sites = make(map[string][]byte), make(map[string][]byte)
	}
	w := words{lines: textfile.Read(r, lineMax)}
	var e entry
	for w.scan() {
		switch word := w.text; word {
		case "machine":
			if err := l.add(e); err != nil {
				return err
			}
			e = entry{line: w.lines.Number()}
			e.host = w.next()
		case "login":
			e.name = w.next()
		case "password":
			e.password = w.next()
		case "account":
			w.next()
		case "default":
			return fmt.Errorf("line %d: a default entry would send its password to every host: name the hosts",
				w.lines.Number())
		default:
			return fmt.Errorf("line %d: %q is none of machine, login, password, account", w.lines.Number(), shown(word))
		}
		if e.line == 0 {
			e.line = w.lines.Number()
		}
	}
	if w.err != nil {
		return w.err
	}
	return l.add(e)
}

// lineMax is the longest line of a file, in bytes.
const lineMax = 1 << 20

// words are the words of a file.
type words struct {
	lines *textfile.Lines
	line  [][]byte // words of the line that are left
	text  string
	err   error
}

// scan goes on to the next word.
func (w *words) scan() bool {
	for len(w.line) == 0 {
		if !w.lines.Scan() {
			w.err = w.lines.Err()
			return false
		}
		if w.lines.IsCut() {
			w.err = fmt.Errorf("line %d is longer than %d bytes", w.lines.Number(), lineMax)
			return false
		}
		if w.line = bytes.Fields(w.lines.Raw()); len(w.line) > 0 && w.line[0][0] == '#' {
			w.line = nil
		}
	}
	w.text, w.line = string(w.line[0]), w.line[1:]
	return true
}

// next returns the next word; "" if there is none.
func (w *words) next() string {
	if !w.scan() {
		return ""
	}
	return w.text
}

// shown is a word that may be a part of a password.
func shown(word string) string {
	return word[:min(len(word), 3)] + "..."
}

// entry is what a file says of one host.
type entry struct {
	host, name, password string
	line                 int // where it begins
}

func (l *Logins) add(e entry) error {
	if err := l.addEntry(e); err != nil {
		return fmt.Errorf("line %d: %w", e.line, err)
	}
	return nil
}

func (l *Logins) addEntry(e entry) error {
	scheme, name, isSite := strings.Cut(e.host, "://")
	if !isSite {
		scheme, name = "https", e.host
	}
	switch {
	case e.line == 0:
		return nil
	case name == "" || e.name == "":
		return fmt.Errorf("an entry lacks its machine or login (machine %q)", e.host)
	case strings.ContainsAny(name, "/?#@\\") || scheme != "http" && scheme != "https":
		return fmt.Errorf("machine %q is neither the name of a host nor http://HOST:PORT or https://HOST:PORT", e.host)
	case strings.ContainsAny(e.name, ":"):
		return fmt.Errorf("machine %s: a login has no colon", e.host)
	case l.count == hostsMax:
		return fmt.Errorf("more than %d machines", hostsMax)
	}
	url, err := urlx.Normalize(nil, []byte(scheme+"://"+name+"/"))
	if err != nil {
		return fmt.Errorf("machine %q: %s", e.host, urlx.Reason(err))
	}
	secret := base64.StdEncoding.EncodeToString([]byte(e.name + ":" + e.password))
	line := []byte("Authorization: Basic " + secret + "\r\n")
	site, _ := urlx.Split(url)
	switch {
	case isSite:
		l.sites[string(site)] = line
		l.count++
	case len(site) > len("https://")+len(urlx.Host(url)):
		return fmt.Errorf("machine %q has a port: write http://%s or https://%s", e.host, e.host, e.host)
	default:
		l.hosts[string(urlx.Host(url))] = line
		l.count++
	}
	return nil
}

// AddSeed lets the password of a host go to the site of a seed, a URL in normal form.
func (l *Logins) AddSeed(url []byte) {
	line := l.hosts[string(urlx.Host(url))]
	if line == nil {
		return
	}
	site, _ := urlx.Split(url)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.sites[string(site)] == nil {
		l.sites[string(site)] = line
	}
}

// Line returns the line of a request's head for a site; nil if it gets no password. trustedOnly says that neither a
// seed nor the file names the site: then only a server with a valid certificate may have the password.
func (l *Logins) Line(site []byte) (line []byte, trustedOnly bool) {
	if l.count == 0 {
		return nil, false
	}
	l.mu.RLock()
	defer l.mu.RUnlock()
	if line := l.sites[string(site)]; line != nil {
		return line, false
	}
	if !urlx.HTTPS(site) || urlx.Port(site) != httpsPort {
		return nil, false
	}
	return l.hosts[string(urlx.Host(site))], true
}

// httpsPort is the port of https://HOST.
const httpsPort = 443

// Count is the number of machines with a password. Seeds do not count.
func (l *Logins) Count() int { return l.count }
