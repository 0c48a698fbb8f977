package login

import (
	"bufio"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	"orbweaver/internal/urlx"
)

// Logins are names and passwords by host. The zero value has none. Safe for concurrent use.
type Logins struct {
	hosts map[string][]byte // lines of a request's head, by host in normal form; they do not change after Read
	count int               // of entries

	mu    sync.RWMutex
	sites map[string][]byte // the same by site; guarded by mu
}

// hostsMax is how many hosts a file may name.
const hostsMax = 100_000

// Read reads a file in the form of netrc: words "machine HOST login NAME password PASSWORD". A site, such as
// http://example.org:8080, may stand in place of HOST. A default entry is a fault, since it would send a password to
// every host.
func Read(r io.Reader) (*Logins, error) {
	l := &Logins{hosts: make(map[string][]byte), sites: make(map[string][]byte)}
	words := bufio.NewScanner(r)
	words.Buffer(nil, 1<<20)
	words.Split(bufio.ScanWords)
	var e entry
	for words.Scan() {
		switch word := words.Text(); word {
		case "machine":
			if err := l.add(e); err != nil {
				return nil, err
			}
			e = entry{host: next(words)}
		case "login":
			e.name = next(words)
		case "password":
			e.password = next(words)
		case "account":
			next(words)
		case "default":
			return nil, errors.New("a default entry would send its password to every host: name the hosts")
		default:
			return nil, fmt.Errorf("%q is none of machine, login, password, account", shown(word))
		}
	}
	if err := words.Err(); err != nil {
		return nil, err
	}
	return l, l.add(e)
}

func next(words *bufio.Scanner) string {
	words.Scan()
	return words.Text()
}

// shown is a word that may be a part of a password.
func shown(word string) string {
	return word[:min(len(word), 3)] + "..."
}

// entry is what a file says of one host.
type entry struct{ host, name, password string }

func (l *Logins) add(e entry) error {
	scheme, name, isSite := strings.Cut(e.host, "://")
	if !isSite {
		scheme, name = "https", e.host
	}
	switch {
	case e == entry{}:
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
