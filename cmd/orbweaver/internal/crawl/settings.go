package crawl

import (
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"os"
	"regexp"
	"strings"

	"orbweaver/cmd/orbweaver/internal/command"
	"orbweaver/cmd/orbweaver/internal/console"
	"orbweaver/cmd/orbweaver/internal/process"
	"orbweaver/engine"
	"orbweaver/engine/admission"
	"orbweaver/engine/archive"
	"orbweaver/engine/fetch"
	"orbweaver/engine/parsers"
	"orbweaver/internal/urlx"
	"orbweaver/warc"
)

// settings turns flags into the engine's configuration and its joints to the world; all mistakes come out at once.
func (c *Command) settings(inv *command.Invocation) (engine.Config, engine.Seams, error) {
	var bad command.Faults
	cfg := c.Config // crawl.toml keeps c.Config, which has nothing of what is derived here
	cfg.Archive.Version, cfg.Archive.Host = inv.Version, hostName()
	bad.Add("", c.archive(&cfg.Archive))
	_, err := c.points(&cfg)
	bad.Add("", err)
	cfg.Seeds, err = seedSource(inv, c.URLs, c.Seeds)
	bad.Add("", err)
	c.output = console.New(inv.Stderr)
	seams := engine.Seams{
		FS: engine.Disk(
			c.Config.Dir,
		), Log: slog.New(newRepeatLimit(command.NewLog(c.output).Handler())), Usage: process.Usage,
		Boot: process.BootClock,
	}
	bad.Add("", c.network(inv, &cfg, &seams))
	bad.Add("", sameFormat(&c.Config))
	bad.Add("", c.agents(inv, &cfg, seams.Log))
	if c.Token != "" && (c.Listen == "" || strings.HasPrefix(c.Listen, "unix:")) {
		bad.Add("--token", errors.New("a Unix socket needs none: it is for --listen host:port"))
	}
	if bad.IsEmpty() && inv.ValueFaults() == nil { // inv.check tells the faults of values
		cfg = cfg.WithDefaults()
		cfg.Fetch = cfg.Fetch.WithDefaults()
		bad.Add("", cfg.Validate())
	}
	return cfg, seams, bad.Err()
}

// archive reads the dictionary and refuses what has no place in the archive.
func (c *Command) archive(a *archive.Options) (err error) {
	var bad command.Faults
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
	cfg.Fetch.UserAgent = userAgent(inv.Version, &c.Config.Fetch)
	var upstream []netip.AddrPort
	if c.Proxy != "" {
		addr, err := proxyAddr(c.Proxy)
		bad.Add("--proxy", err)
		if err == nil {
			cfg.Fetch.Proxy = &fetch.Proxy{URL: c.Proxy, Addr: addr}
			upstream = append(upstream, addr)
		}
	}
	bad.Add("--resolver", c.resolver(seams))
	guard, nets, err := c.guard(c.Listen, upstream)
	c.policy = guard
	bad.Add("", err)
	switch {
	case err != nil:
	case cfg.Fetch.Proxy != nil:
		seams.Dialer = fetch.NetDialer(guard.Upstream())
		seams.Allowed = guard.Through
	default:
		seams.Dialer = fetch.NetDialer(guard)
		seams.Allowed = guard.Check
		bad.Add("", contactNeeded(c.Config.Fetch.Contact, nets, cfg.Seeds))
	}
	return bad.Err()
}

// userAgent is the name that goes with every request.
func userAgent(version string, f *fetch.Options) string {
	switch {
	case f.UserAgent != "":
		return f.UserAgent
	case f.Contact != "":
		return fmt.Sprintf("orbweaver/%s (+%s)", version, f.Contact)
	default:
		return fmt.Sprintf("orbweaver/%s (private crawl, no contact given)", version)
	}
}

// contactNeeded refuses a public crawl without the address of its operator.
func contactNeeded(contact string, nets []netip.Prefix, seeds admission.SeedSource) error {
	if contact != "" {
		return nil
	}
	errPublic := errors.New(
		"--contact: a public crawl must say where site owners reach you: give a URL or an e-mail address" +
			" (not needed with --proxy, or with an --allow-net that covers every seed)",
	)
	if len(nets) == 0 {
		return errPublic
	}
	if seeds == nil {
		return nil // a resumed crawl: its seeds were looked at when it began
	}
	return seeds.Each(func(_ string, raw []byte) error {
		u, err := urlx.Normalize(nil, raw)
		if err != nil {
			return nil //nolint:nilerr // told elsewhere
		}
		host := string(urlx.Host(u))
		addr, err := netip.ParseAddr(host)
		if host == "localhost" {
			addr, err = netip.AddrFrom4([4]byte{127, 0, 0, 1}), nil
		}
		if err == nil {
			for _, n := range nets {
				if n.Contains(addr) {
					return nil
				}
			}
			return errPublic
		}
		if strings.HasSuffix(host, ".test") || strings.HasSuffix(host, ".localhost") || strings.HasSuffix(host, ".internal") {
			return nil // names that exist in no public zone
		}
		return errPublic
	})
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
