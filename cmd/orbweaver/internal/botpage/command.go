package botpage

import (
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"
	"time"

	"orbweaver/cmd/orbweaver/internal/crawl"
	"orbweaver/engine/net/fetch"
	"orbweaver/engine/page/filter"
	"orbweaver/engine/state/layout"
	"orbweaver/engine/state/settings"
	"orbweaver/internal/cli/command"
	"orbweaver/internal/vfs"
)

// Command is the command botpage.
type Command struct {
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
func (*Command) Help() string {
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
func (*Command) SettingsFile(dir string) string {
	if dir == "" {
		return ""
	}
	return filepath.Join(dir, layout.SettingsFile)
}

// Resume notes that the directory has settings.
func (c *Command) Resume(command.KeptSettings) { c.isResumed = true }

// Check makes the page, and refuses one that names no operator or no contact.
func (c *Command) Check(inv *command.Invocation) error {
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
	bad.Add("", crawl.CheckContact(c.Contact))
	if c.Mail != "" && (strings.Contains(c.Mail, "://") || crawl.CheckContact(c.Mail) != nil) {
		bad.Add("--mail", fmt.Errorf("%q is no mail address such as crawl@example.org", c.Mail))
	}
	if err := bad.Err(); err != nil {
		return err
	}
	c.page = page{
		Operator: c.Operator, Purpose: c.Description, Mail: strings.TrimPrefix(c.Mail, "mailto:"), Token: token,
		UserAgent: crawl.UserAgent(inv.Version, &fetch.Options{UserAgent: c.UserAgent, Contact: c.Contact}),
		HostDelay: spokenDelay(c.HostDelay), IPDelay: spokenDelay(c.IPDelay), CrawlDelayMax: spokenDelay(c.CrawlDelayMax),
		IPv6Prefix: c.IPv6Prefix,
	}
	if u, err := url.Parse(c.Contact); err == nil && (u.Scheme == "http" || u.Scheme == "https") {
		c.page.Contact = c.Contact
	} else if c.page.Mail == "" {
		c.page.Mail = strings.TrimPrefix(c.Contact, "mailto:")
	}
	if err := c.noteHostRules(); err != nil {
		return fmt.Errorf("--host-rules: %w", err)
	}
	return nil
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
func (c *Command) noteHostRules() error {
	var lists []*filter.HostRules
	if files := command.Given(c.HostRules); len(files) > 0 {
		from, err := crawl.ReadRules(files)
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
func (c *Command) Run(inv *command.Invocation) error {
	switch {
	case c.Text:
		return c.page.writeText(inv.Stdout)
	case c.JSON:
		return command.PrintJSON(inv.Stdout, &c.page)
	}
	return c.page.write(inv.Stdout)
}
