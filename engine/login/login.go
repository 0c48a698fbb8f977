package login

import (
	"bufio"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"strings"

	"orbweaver/internal/urlx"
)

// Logins are names and passwords by host. They are read once and do not change. The zero value has none.
type Logins struct {
	lines map[string][]byte // lines of a request's head, by host in normal form
}

// hostsMax is how many hosts a file may name.
const hostsMax = 100_000

// Read reads a file in the form of netrc: words "machine HOST login NAME password PASSWORD". A default entry is a
// fault, since it would send a password to every host.
func Read(r io.Reader) (*Logins, error) {
	l := &Logins{lines: make(map[string][]byte)}
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
	switch {
	case e == entry{}:
		return nil
	case e.host == "" || e.name == "":
		return fmt.Errorf("an entry lacks its machine or login (machine %q)", e.host)
	case strings.ContainsAny(e.host, "/?#@\\"):
		return fmt.Errorf("machine %q is not the name of a host", e.host)
	case strings.ContainsAny(e.name, ":"):
		return fmt.Errorf("machine %s: a login has no colon", e.host)
	case len(l.lines) == hostsMax:
		return fmt.Errorf("more than %d machines", hostsMax)
	}
	url, err := urlx.Normalize(nil, []byte("http://"+e.host+"/"))
	if err != nil {
		return fmt.Errorf("machine %q: %s", e.host, urlx.Reason(err))
	}
	secret := base64.StdEncoding.EncodeToString([]byte(e.name + ":" + e.password))
	l.lines[string(urlx.Host(url))] = []byte("Authorization: Basic " + secret + "\r\n")
	return nil
}

// Line returns the line of a request's head for a host in normal form; nil if no password is known.
func (l *Logins) Line(host []byte) []byte {
	if len(l.lines) == 0 {
		return nil
	}
	return l.lines[string(host)]
}

// Count is the number of hosts with a password.
func (l *Logins) Count() int { return len(l.lines) }
