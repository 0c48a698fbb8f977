package cookie

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"

	"orbweaver/internal/textfile"
	"orbweaver/internal/urlx"
)

// Presets are cookies with which a crawl begins, of a file that browsers and wget write. They are read once and do not
// change. The zero value has none.
type Presets struct {
	byDomain map[string][]preset
	count    int
}

// preset is a cookie of a file.
type preset struct {
	cookie
	below bool // also for hosts below the domain
	https bool
}

// presetsMax is how many cookies a file may have.
const presetsMax = 100_000

// presetMore is how much longer than a cookie its line may be, in bytes: domain, path and expiry.
const presetMore = 16 << 10

// Add reads the cookies of a file in Netscape's format, before the first use. Each line has a domain, whether hosts
// below it count, a path, whether HTTPS is required, the expiry in Unix seconds or 0, a name and a value, with tabs
// between them.
func (p *Presets) Add(r io.Reader) error {
	if p.byDomain == nil {
		p.byDomain = make(map[string][]preset)
	}
	lines := textfile.Read(r, siteBytes+presetMore)
	for lines.Scan() {
		line := strings.TrimPrefix(string(lines.Raw()), "#HttpOnly_")
		if strings.TrimSpace(line) == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if err := p.add(strings.Split(line, "\t")); err != nil {
			return fmt.Errorf("line %d: %w", lines.Number(), err)
		}
	}
	return lines.Err()
}

// add reads the fields of a line.
func (p *Presets) add(fields []string) error {
	const fieldCount = 7
	if len(fields) != fieldCount {
		return fmt.Errorf("%d fields with tabs between them, and not 7: domain, below, path, https, expiry, name, value",
			len(fields))
	}
	domain := strings.TrimPrefix(fields[0], ".")
	url, err := urlx.Normalize(nil, []byte("http://"+domain+"/"))
	if err != nil {
		return fmt.Errorf("domain %.200q: %s", fields[0], urlx.Reason(err))
	}
	expiry, err := strconv.ParseFloat(fields[4], 64) // some programs write fractions
	if err != nil || math.IsNaN(expiry) || expiry < 0 {
		return fmt.Errorf("expiry %.200q is not a number of seconds", fields[4])
	}
	c := preset{
		cookie: cookie{name: fields[5], value: fields[6], path: fields[2]},
		below:  strings.EqualFold(fields[1], "TRUE") || strings.HasPrefix(fields[0], "."),
		https:  strings.EqualFold(fields[3], "TRUE"),
	}
	if hasPrefixFold(c.name, "__Host-") {
		c.below, c.https = false, true
	}
	c.https = c.https || hasPrefixFold(c.name, "__Secure-")
	if expiry > 0 {
		c.until = int64(min(expiry, math.MaxInt64/float64(2*time.Second)))*int64(time.Second) + 1
	}
	isControl := func(r rune) bool { return r < ' ' || r == 0x7f || r == ';' }
	switch {
	case !strings.HasPrefix(c.path, "/"):
		return fmt.Errorf("path %.200q does not begin with a slash", c.path)
	case strings.ContainsFunc(c.name+c.value, isControl) || strings.ContainsRune(c.name, '='):
		return fmt.Errorf("the cookie %.50q has a character that a header cannot have", c.name)
	case c.size() > siteBytes:
		return fmt.Errorf("the cookie %.50q is longer than %d bytes", c.name, siteBytes)
	case p.count == presetsMax:
		return fmt.Errorf("more than %d cookies", presetsMax)
	}
	host := string(urlx.Host(url))
	p.byDomain[host] = append(p.byDomain[host], c)
	p.count++
	return nil
}

// Count is the number of cookies.
func (p *Presets) Count() int { return p.count }

// each calls f for the cookies of a site.
func (p *Presets) each(site []byte, f func(c *cookie)) {
	if p.count == 0 {
		return
	}
	https, host := urlx.HTTPS(site), urlx.Host(site)
	for domain := host; len(domain) > 0; {
		for i := range p.byDomain[string(domain)] {
			if c := &p.byDomain[string(domain)][i]; (c.below || len(domain) == len(host)) && (https || !c.https) {
				f(&c.cookie)
			}
		}
		dot := bytes.IndexByte(domain, '.')
		if dot < 0 || host[len(host)-1] <= '9' { // an address has no parent
			return
		}
		domain = domain[dot+1:]
	}
}
