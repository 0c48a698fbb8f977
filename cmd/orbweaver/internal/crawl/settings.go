package crawl

import (
	"errors"
	"fmt"
	"net/netip"
	"os"
	"regexp"
	"slices"
	"strings"

	"orbweaver/cmd/orbweaver/internal/receivers"
	"orbweaver/engine"
	"orbweaver/engine/net/fetch"
	"orbweaver/engine/operate/changes"
	"orbweaver/engine/operate/upload"
	"orbweaver/engine/store/otherarchives"
	"orbweaver/engine/workers/archive"
	"orbweaver/engine/workers/parsers"
	"orbweaver/internal/cli/command"
	"orbweaver/internal/cli/console"
	"orbweaver/internal/cli/process"
	"orbweaver/internal/urlx"
	"orbweaver/internal/vfs"
	"orbweaver/warc"
)

// settings turns flags into the engine's configuration and its joints to the world; all mistakes come out at once.
func (c *Command) settings(inv *command.Invocation) (engine.Config, engine.Seams, error) {
	var bad command.Faults
	cfg := c.Config // crawl.toml keeps c.Config, which has nothing of what is derived here
	cfg.Archive.Version, cfg.Archive.Host = inv.Version, hostName()
	bad.Add("", c.archive(&cfg.Archive))
	bad.Add("", receivers.Check(&c.Uploads))
	bad.Add("", receivers.CheckHook(&cfg.Hook))
	if c.Uploads.Then == upload.Delete && cfg.Archive.Manifest == archive.ManifestNone {
		bad.Add("--upload-then", errors.New("delete needs the manifest, which --warc-manifest none leaves out"))
	}
	var err error
	c.dry.lists, err = c.points(&cfg)
	bad.Add("", err)
	bad.Add("--budgets", c.budgets(&cfg.Order))
	seeds := c.URLs
	if c.DryRun { // these are the URLs to be told about
		seeds = nil
	}
	cfg.Seeds, err = seedSource(inv, seeds, c.Seeds)
	bad.Add("", err)
	c.output = console.New(inv.Stderr)
	log, level := c.newLog(c.output)
	seams := engine.Seams{
		FS: engine.Disk(c.Config.Dir), Log: log, Usage: process.Usage, Boot: process.BootClock,
		Settings: keptSettings{c.Config.Dir}, OwnSettings: []changes.Own{level, {Target: &c.listOptions, Read: ReadRules}},
	}
	cfg.Hook.Stats = statNames(cfg.Filters.Stats)
	cfg.Hook.Counts = c.hookCounts(cfg.Filters.Stats)
	seams.Hook = receivers.NewHooks(&cfg.Hook, log)
	if most := cfg.Limits.MaxTime; most.IsPast() && (!c.resumes || c.Config.Refresh) {
		bad.Add("--max-time", fmt.Errorf("%s has passed: give a later date, a running time, or 0 for no limit", most))
	}
	bad.Add("", c.network(inv, &cfg, &seams))
	seams.Logins, err = c.logins(seams.Log)
	bad.Add("--netrc", err)
	cfg.Cookies.Presets, err = c.startCookies(&cfg.Cookies)
	bad.Add("--load-cookies", err)
	bad.Add("", c.sameFormat())
	bad.Add("--preset", c.samePreset(c.Config.Dir))
	bad.Add("", checkDir(c.Config.Dir, c.givenFiles(inv)...))
	bad.Add("", c.agents(inv, &cfg, seams.Log))
	bad.Add("", c.checkListen())
	bad.Add("", checkComponents(&cfg))
	bad.Add("", c.checkPartners(inv, &cfg))
	if bad.IsEmpty() && inv.ValueFaults() == nil { // inv.check tells the faults of values
		cfg = cfg.WithDefaults()
		cfg.Fetch = cfg.Fetch.WithDefaults()
		bad.Add("", cfg.Validate())
		bad.Add("", cfg.Fetch.Validate())
	}
	return cfg, seams, bad.Err()
}

// checkComponents reports what is wrong with lists of words and lines. Config.Validate finds it too, and is asked about
// values alone that have no other faults.
func checkComponents(cfg *engine.Config) error {
	var bad command.Faults
	_, err := urlx.NewParams(cfg.Admission.StripParams)
	bad.Add("--strip-params", err)
	bad.Add("", cfg.Mining.Validate())
	request := fetch.Options{
		UserAgent: cfg.Fetch.UserAgent, Contact: cfg.Fetch.Contact, Headers: cfg.Fetch.Headers,
	}
	if err := request.WithDefaults().Validate(); err != nil {
		bad.Add("", errors.New(strings.ReplaceAll(err.Error(), fetch.ErrOptions.Error()+": ", "")))
	}
	for _, from := range cfg.Seen.Others.From {
		bad.Add("", otherarchives.Check(vfs.Disk(), []string{from}))
	}
	return bad.Err()
}

// givenFiles are the files that the command line names.
func (c *Command) givenFiles(inv *command.Invocation) []string {
	files := slices.Concat(
		[]string{c.WarcDictionary, c.AgentFile, c.Token, c.Budgets}, c.Seeds, c.ExcludeHosts, c.IncludeHosts, c.Surts,
		c.HostRules, c.Netrc, c.LoadCookies,
	)
	if !c.wallsOff() {
		files = append(files, c.Walls...)
	}
	if inv.Args != nil { //nolint:nolintlint // tests make an Invocation by hand
		config, err := command.GivenText(inv.Args, "config")
		if err == nil {
			files = append(files, config)
		}
	}
	return files
}

// archive reads the dictionary and refuses what has no place in the archive.
func (c *Command) archive(a *archive.Options) (err error) {
	var bad command.Faults
	bad.Add("", a.Validate())
	if a.Metadata == parsers.MetadataNone && (a.Via || a.Outlinks) {
		bad.Add("--warc-metadata", errors.New("none leaves no place for what --warc-via and --warc-outlinks would tell"))
	}
	if c.WarcDictionary == "" {
		return bad.Err()
	}
	if a.Dictionary, err = os.ReadFile(c.WarcDictionary); err == nil {
		err = warc.EncoderOptions{Compression: a.Compression, Level: 1, Dictionary: a.Dictionary}.Validate()
	}
	bad.Add("--warc-dictionary", err)
	return bad.Err()
}

// network fills in the addresses that the crawl may connect to, and its name in requests.
func (c *Command) network(inv *command.Invocation, cfg *engine.Config, seams *engine.Seams) error {
	var bad command.Faults
	bad.Add("", CheckContact(c.Config.Fetch.Contact))
	cfg.Fetch.UserAgent = UserAgent(inv.Version, &c.Config.Fetch)
	var upstream []netip.AddrPort
	var proxy netip.AddrPort
	if c.Proxy != "" {
		var err error
		proxy, err = proxyAddr(c.Proxy)
		bad.Add("--proxy", err)
		if err == nil && !c.isSocks() {
			cfg.Fetch.Proxy = &fetch.Proxy{URL: c.Proxy, Addr: proxy}
			upstream = append(upstream, proxy)
		}
	}
	if err := c.resolver(seams); errors.Is(err, errNoSystem) {
		c.need(&bad, err)
	} else {
		bad.Add("", err)
	}
	guard, nets, err := c.guard(c.Listen, upstream)
	c.policy = guard
	bad.Add("", err)
	if err != nil {
		if len(c.AllowNet) == 0 { // else it depends on ranges that may be bad
			c.need(&bad, contactNeeded(c.Config.Fetch.Contact, nil, cfg.Seeds, c.hostsFile()))
		}
		return bad.Err()
	}
	if cfg.Fetch.Proxy != nil {
		seams.Dialer = fetch.NetDialer(guard.Upstream())
		seams.Allowed = guard.Through
		return bad.Err()
	}
	seams.Dialer, seams.Allowed = fetch.NetDialer(guard), guard.Check
	if c.isSocks() && proxy.IsValid() {
		seams.Dialer, err = c.socksDialer(proxy, guard.Check)
		bad.Add("--proxy", err)
	}
	c.need(&bad, contactNeeded(c.Config.Fetch.Contact, nets, cfg.Seeds, c.hostsFile()))
	return bad.Err()
}

// need notes what a crawl needs. A dry run does not: it prints it.
func (c *Command) need(bad *command.Faults, err error) {
	switch {
	case err == nil:
	case c.DryRun:
		c.dry.lacks = append(c.dry.lacks, err)
	default:
		bad.Add("", err)
	}
}

// UserAgent is the name that goes with every request.
func UserAgent(version string, f *fetch.Options) string {
	switch {
	case f.UserAgent != "":
		return f.UserAgent
	case f.Contact != "":
		return fmt.Sprintf("orbweaver/%s (+%s)", version, f.Contact)
	default:
		return fmt.Sprintf("orbweaver/%s (private crawl, no contact given)", version)
	}
}

// hostName names this machine in WARC files.
func hostName() string {
	name, err := os.Hostname()
	if err != nil {
		name = ""
	}
	return fileName(name)
}

// fileName makes a name of the letters that a file's name takes, which leads nowhere: localhost if none is left.
func fileName(name string) string {
	name = regexp.MustCompile(`[^A-Za-z0-9._-]+`).ReplaceAllString(name, "-")
	name = strings.TrimLeft(name, "._-")
	if name == "" {
		return "localhost"
	}
	return name[:min(len(name), 100)]
}
