package botpage

import (
	"fmt"
	"html/template"
	"io"
	"strings"
	"time"
	"unicode"

	"orbweaver/engine/net/robots"
)

// page is what the page says.
type page struct {
	Operator  string `json:"operator"`
	Purpose   string `json:"purpose"`
	Contact   string `json:"contact"` // a URL, "" if the contact is a mail address
	Mail      string `json:"mail"`    // a mail address, "" if there is none
	UserAgent string `json:"user_agent"`
	Token     string `json:"token"`

	HostDelay     string `json:"host_delay"`
	IPDelay       string `json:"ip_delay"`
	CrawlDelayMax string `json:"crawl_delay_max"`
	IPv6Prefix    int    `json:"ipv6_prefix"`
	HasOwnDelays  bool   `json:"has_own_delays"` // some hosts have an agreed delay
	IgnoresRobots bool   `json:"ignores_robots"` // of some hosts
}

// write writes the page as HTML. All that comes from settings is escaped by package template.
func (p *page) write(out io.Writer) error {
	t, err := template.New("page").Parse(pageText)
	if err != nil {
		return fmt.Errorf("botpage: %w", err)
	}
	if err := t.Execute(out, p); err != nil {
		return fmt.Errorf("botpage: %w", err)
	}
	return nil
}

// writeText writes a robots.txt that keeps the crawler away.
func (p *page) writeText(out io.Writer) error {
	_, err := fmt.Fprintf(out, `# Keeps %s away, the crawler of %s
# %s
User-agent: %s
Disallow: /

# Or let it come less often, one request in 30 seconds:
# User-agent: %s
# Crawl-delay: 30
`, p.Token, oneLine(p.Operator), oneLine(strings.TrimSpace(p.Contact+" "+p.Mail)), p.Token, p.Token)
	if err != nil {
		return fmt.Errorf("botpage: %w", err)
	}
	return nil
}

// oneLine makes a text a part of one line: a comment must not become a rule.
func oneLine(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == '\u2028' || r == '\u2029' {
			return ' '
		}
		return r
	}, text)
}

// spoken is a time as a sentence has it.
func spoken(d time.Duration) string {
	for _, unit := range []struct {
		size time.Duration
		name string
	}{{time.Hour, "hour"}, {time.Minute, "minute"}, {time.Second, "second"}, {time.Millisecond, "millisecond"}} {
		if d >= unit.size && d%unit.size == 0 {
			n := d / unit.size
			if n == 1 {
				return "1 " + unit.name
			}
			return fmt.Sprintf("%d %ss", n, unit.name)
		}
	}
	return d.String()
}

// token is the name in robots.txt.
const token = robots.Token
