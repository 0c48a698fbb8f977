package crawl

import (
	"errors"
	"fmt"
	"html/template"
	"io"
	"net/url"
	"path/filepath"
	"strings"
	"time"
	"unicode"

	"orbweaver/engine/net/fetch"
	"orbweaver/engine/net/robots"
	"orbweaver/engine/page/filter"
	"orbweaver/engine/state/layout"
	"orbweaver/engine/state/settings"
	"orbweaver/internal/cli/command"
	"orbweaver/internal/vfs"
)

// BotPage is the command botpage.
type BotPage struct {
	Dir  string `exists:"directory" help:"Crawl directory. Its settings are those of the page; flags win over them." placeholder:"DIR"`
	Text bool   `help:"Print a robots.txt that keeps the crawler away, instead of the page." xor:"form"`
	JSON bool   `help:"Print what the page says as one JSON object, instead of the page." xor:"form"`

	Operator    string `help:"Person or organisation that runs the crawl." placeholder:"NAME"`
	Description string `help:"Purpose of the crawl, in a sentence or two." placeholder:"TEXT"`
	Contact     string `help:"URL or e-mail address where site owners reach you." placeholder:"URL"`
	Mail        string `help:"E-mail address for site owners, if --contact is a URL." placeholder:"ADDRESS"`
	UserAgent   string `help:"Header User-Agent of all requests. The default names the version and --contact." placeholder:"TEXT"`

	HostDelay     time.Duration `help:"Time between two requests to a site." default:"4s" placeholder:"TIME"`
	IPDelay       time.Duration `name:"ip-delay" help:"Time between two requests to an IP address." default:"500ms" placeholder:"TIME"`
	CrawlDelayMax time.Duration `help:"Longest Crawl-delay that is obeyed." default:"5m" placeholder:"TIME"`
	IPv6Prefix    int           `name:"ipv6-prefix" help:"Bits of an IPv6 address that share a delay." default:"64" least:"32" most:"128" placeholder:"N"`
	HostRules     []string      `help:"File of rules for single hosts. Repeatable." placeholder:"FILE" sep:"none"`

	isResumed bool // the directory has settings
	page      page
}

// Help shows examples.
func (*BotPage) Help() string {
	return `Prints a page for site owners: whose crawler this is, what it is for, its User-Agent, how often it comes, and
how to keep it away. Publish it at the address of --contact. The page is one file of HTML without scripts, and
requests nothing else. The values come from flags, or from the settings of a crawl directory.

Examples:
  orbweaver botpage --dir crawl --mail crawl@example.org > bot.html
  orbweaver botpage --operator 'Example Library' --description 'We archive the web of Exampleland.' \
    --contact https://library.example/bot --mail crawl@library.example > bot.html
  orbweaver botpage --dir crawl --text     # a robots.txt for site owners`
}

// SettingsFile keeps the settings of the crawl in dir.
func (*BotPage) SettingsFile(dir string) string {
	if dir == "" {
		return ""
	}
	return filepath.Join(dir, layout.SettingsFile)
}

// Resume notes that the directory has settings.
func (c *BotPage) Resume(command.KeptSettings) { c.isResumed = true }

// Check makes the page, and refuses one that names no operator or no contact.
func (c *BotPage) Check(inv *command.Invocation) error {
	var bad command.Faults
	if c.Dir != "" && !c.isResumed {
		bad.Add("--dir", fmt.Errorf("%s has no %s", c.Dir, layout.SettingsFile))
		return bad.Err()
	}
	if strings.TrimSpace(c.Operator) == "" {
		bad.Add("--operator", errors.New("the page must name the operator of the crawl"))
	}
	if strings.TrimSpace(c.Description) == "" && !c.Text {
		bad.Add("--description", errors.New("the page must say what the crawl is for"))
	}
	if c.Contact == "" && c.Mail == "" {
		bad.Add("--contact", errors.New("the page must say where site owners reach you: give a URL or an e-mail address"))
	}
	bad.Add("", CheckContact(c.Contact))
	if c.Mail != "" && (strings.Contains(c.Mail, "://") || CheckContact(c.Mail) != nil) {
		bad.Add("--mail", fmt.Errorf("%q is no mail address such as crawl@example.org", c.Mail))
	}
	c.page = page{
		Operator: c.Operator, Purpose: c.Description, Mail: strings.TrimPrefix(c.Mail, "mailto:"), Token: token,
		UserAgent: UserAgent(inv.Version, &fetch.Options{UserAgent: c.UserAgent, Contact: c.Contact}),
		HostDelay: spokenDelay(c.HostDelay), IPDelay: spokenDelay(c.IPDelay), CrawlDelayMax: spokenDelay(c.CrawlDelayMax),
		IPv6Prefix: c.IPv6Prefix,
	}
	if u, err := url.Parse(c.Contact); err == nil && (u.Scheme == "http" || u.Scheme == "https") {
		c.page.Contact = c.Contact
	} else if c.page.Mail == "" {
		c.page.Mail = strings.TrimPrefix(c.Contact, "mailto:")
	}
	bad.Add("--host-rules", c.noteHostRules())
	return bad.Err()
}

// spokenDelay is "" for no delay.
func spokenDelay(d time.Duration) string {
	if d <= 0 {
		return ""
	}
	return spoken(d)
}

// noteHostRules says what the rules of single hosts change. Rules are in the settings, or were given while the crawl
// ran.
func (c *BotPage) noteHostRules() error {
	var lists []*filter.HostRules
	if files := command.Given(c.HostRules); len(files) > 0 {
		from, err := ReadRules(files)
		if err != nil {
			return err
		}
		fixed, err := filter.CompileHostRules(from)
		if err != nil {
			return err
		}
		lists = append(lists, fixed)
	}
	if c.Dir != "" {
		_, live, err := settings.ReadHostRules(vfs.Disk(), filepath.Join(c.Dir, layout.FrontierDir))
		if err != nil {
			return err
		}
		lists = append(lists, live)
	}
	for _, rules := range lists {
		c.page.HasOwnDelays = c.page.HasOwnDelays || rules.Delays()
		c.page.IgnoresRobots = c.page.IgnoresRobots || len(rules.RobotsIgnored()) > 0
	}
	return nil
}

// Run prints the page.
func (c *BotPage) Run(inv *command.Invocation) error {
	switch {
	case c.Text:
		return c.page.writeText(inv.Stdout)
	case c.JSON:
		return command.PrintJSON(inv.Stdout, &c.page)
	}
	return c.page.write(inv.Stdout)
}

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

// pageText is the template of the page.
const pageText = `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>The crawler of {{.Operator}}</title>
<style>
body { max-width: 42em; margin: 2em auto; padding: 0 1em; font: 1em/1.5 sans-serif; color: #222; background: #fff }
pre { padding: .8em; overflow: auto; background: #eee }
dt { font-weight: bold } dd { margin: 0 0 .6em 0; overflow-wrap: anywhere }
@media (prefers-color-scheme: dark) {
body { color: #ddd; background: #1b1b1b } pre { background: #333 } a { color: #9cf }
}
</style>
</head>
<body>
<main>
<h1>The crawler of {{.Operator}}</h1>
<p>You see this page because a crawler has visited your site, and its requests name this address.</p>
<dl>
<dt>Operator</dt>
<dd>{{.Operator}}</dd>
<dt>Purpose</dt>
<dd>{{.Purpose}}</dd>
<dt>User-Agent of its requests</dt>
<dd><code>{{.UserAgent}}</code></dd>
<dt>Name in robots.txt</dt>
<dd><code>{{.Token}}</code></dd>
{{- if .Mail}}
<dt>Mail</dt>
<dd><a href="mailto:{{.Mail}}">{{.Mail}}</a></dd>
{{- end}}
{{- if .Contact}}
<dt>Contact</dt>
<dd><a href="{{.Contact}}">{{.Contact}}</a></dd>
{{- end}}
</dl>
<h2>How often it comes</h2>
<ul>
<li>It sends one request at a time to a site.
{{- if .HostDelay}} After each response it waits at least {{.HostDelay}}.{{end}}</li>
<li>It sends one request at a time to an IP address, whatever sites are there.
{{- if .IPDelay}} After each response it waits at least {{.IPDelay}}.{{end}}
IPv6 addresses that agree in their first {{.IPv6Prefix}} bits count as one.</li>
{{- if .CrawlDelayMax}}
<li>A longer <code>Crawl-delay</code> in robots.txt is obeyed, up to {{.CrawlDelayMax}}.</li>
{{- end}}
<li>After a response with status 429 or 503 it waits as long as <code>Retry-After</code> says, up to a day. Without it,
the wait grows with each such response.</li>
{{- if .HasOwnDelays}}
<li>Some hosts have another delay, which their rules in the settings of the crawl state.</li>
{{- end}}
</ul>
<h2>How to keep it away</h2>
<p>Put these lines into <code>/robots.txt</code> of your site. They count for the scheme, host and port that serve
this file.</p>
<pre>User-agent: {{.Token}}
Disallow: /</pre>
<p>A path in place of <code>/</code> closes a part of the site. These lines let it come less often, one request in
30 seconds:</p>
<pre>User-agent: {{.Token}}
Crawl-delay: 30</pre>
<p>The crawler reads robots.txt before anything else of a site, and again within 24 hours. So a change counts after a
day at the latest.{{if .IgnoresRobots}} For some hosts the operator has decided not to obey the rules of robots.txt, and
the archive states the reason. Write to the operator if this concerns your site.{{end}}</p>
<p>{{if .Mail}}Or write to <a href="mailto:{{.Mail}}">{{.Mail}}</a>{{else}}Or write to the operator{{end}}.
Name your site, and the times of some requests in your log. The operator can exclude a site at once, or give it a
longer delay.</p>
</main>
</body>
</html>
`
