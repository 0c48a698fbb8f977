package main

import (
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"net/url"
	"os"
	"regexp"
	"strconv"
	"strings"

	"orbweaver/dnsres"
	"orbweaver/engine"
	"orbweaver/engine/admission"
	"orbweaver/engine/fetch"
	"orbweaver/engine/fetch/addrguard"
	"orbweaver/engine/parsers"
	"orbweaver/engine/urlx"
	"orbweaver/warc"
)

// settings turns flags into the engine's configuration and its joints to the world; all mistakes come out at once.
func (c *crawlCmd) settings(w *world) (engine.Config, engine.Seams, error) {
	var bad mistakes
	cfg := c.Config // crawl.toml keeps c.Config, which has nothing of what is derived here
	cfg.Archive.Version, cfg.Archive.Host = version, hostName()
	bad.add("", c.archive(&cfg.Archive))
	_, err := c.points(&cfg)
	bad.add("", err)
	cfg.Seeds, err = c.seedSource(w)
	bad.add("", err)
	c.words = newWords(w.stderr)
	seams := engine.Seams{FS: engine.Disk(c.Config.Dir), Log: slog.New(newCalm(newLog(c.words).Handler())), Usage: usage, Boot: bootClock}
	bad.add("", c.network(&cfg, &seams))
	bad.add("", c.sameFormat())
	bad.add("", c.agents(w, &cfg, seams.Log))
	if c.Token != "" && (c.Listen == "" || strings.HasPrefix(c.Listen, "unix:")) {
		bad.add("--token", errors.New("a Unix socket needs none: it is for --listen host:port"))
	}
	if bad.none() && w.faults() == nil { // w.check tells the faults of values
		cfg = cfg.WithDefaults()
		cfg.Fetch = cfg.Fetch.WithDefaults()
		bad.add("", cfg.Validate())
	}
	return cfg, seams, bad.err()
}

// archive reads the dictionary and refuses what has no place in the archive.
func (c *crawlCmd) archive(a *engine.Archive) (err error) {
	var bad mistakes
	if a.Metadata == parsers.MetadataNone && (a.Via || a.Outlinks) {
		bad.add("--warc-metadata", errors.New("none leaves no place for what --warc-via and --warc-outlinks would tell"))
	}
	if c.WarcDictionary == "" {
		return bad.err()
	}
	if a.Dictionary, err = os.ReadFile(c.WarcDictionary); err == nil {
		err = warc.EncoderOptions{Compression: a.Compression, Level: 1, Dictionary: a.Dictionary}.Validate()
	}
	bad.add("--warc-dictionary", err)
	return bad.err()
}

// mistakes collects what is wrong.
type mistakes struct{ list []error }

func (m *mistakes) add(flag string, err error) {
	switch {
	case err == nil:
	case flag == "":
		m.list = append(m.list, err)
	default:
		m.list = append(m.list, fmt.Errorf("%s: %w", flag, err))
	}
}

func (m *mistakes) none() bool { return len(m.list) == 0 }

func (m *mistakes) err() error { return errors.Join(m.list...) }

// network fills in what the crawl may talk to, and as whom.
func (c *crawlCmd) network(cfg *engine.Config, seams *engine.Seams) error {
	var bad mistakes
	cfg.Fetch.UserAgent = c.userAgent()
	var upstream []netip.AddrPort
	if c.Proxy != "" {
		addr, err := proxyAddr(c.Proxy)
		bad.add("--proxy", err)
		if err == nil {
			cfg.Fetch.Proxy = &fetch.Proxy{URL: c.Proxy, Addr: addr}
			upstream = append(upstream, addr)
		}
	}
	bad.add("--resolver", c.resolver(seams))
	guard, nets, err := c.guard(upstream)
	c.policy = guard
	bad.add("", err)
	switch {
	case err != nil:
	case cfg.Fetch.Proxy != nil:
		seams.Dialer = fetch.NetDialer(guard.Upstream())
		seams.Allowed = guard.Through
	default:
		seams.Dialer = fetch.NetDialer(guard)
		seams.Allowed = guard.Check
		bad.add("", c.contactNeeded(nets, cfg.Seeds))
	}
	return bad.err()
}

// userAgent is the name that goes with every request.
func (c *crawlCmd) userAgent() string {
	f := &c.Config.Fetch
	switch {
	case f.UserAgent != "":
		return f.UserAgent
	case f.Contact != "":
		return fmt.Sprintf("orbweaver/%s (+%s)", version, f.Contact)
	default:
		return fmt.Sprintf("orbweaver/%s (private crawl, no contact given)", version)
	}
}

// contactNeeded refuses a public crawl that does not say who is asking.
func (c *crawlCmd) contactNeeded(nets []netip.Prefix, seeds admission.SeedSource) error {
	if c.Config.Fetch.Contact != "" {
		return nil
	}
	errPublic := errors.New("--contact: a public crawl must say where site owners reach you: give a URL or an e-mail address" +
		" (not needed with --proxy, or with an --allow-net that covers every seed)")
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

// resolver makes the name system.
func (c *crawlCmd) resolver(seams *engine.Seams) error {
	var upstreams []netip.AddrPort
	for _, r := range c.Resolver {
		if n, ok := strings.CutPrefix(r, "hashed"); ok {
			return c.hashed(seams, strings.TrimPrefix(n, ":"), len(c.Resolver))
		}
		if r == "system" {
			found, err := dnsres.SystemUpstreams()
			if err != nil {
				return fmt.Errorf("system: %w; name a server as IP:PORT", err)
			}
			upstreams = append(upstreams, found...)
			continue
		}
		a, err := netip.ParseAddrPort(r)
		if host, noPort := netip.ParseAddr(r); noPort == nil {
			a, err = netip.AddrPortFrom(host, 53), nil
		}
		if err != nil {
			return fmt.Errorf("%q is none of system, IP:PORT, hashed[:N]", r)
		}
		upstreams = append(upstreams, a)
	}
	dialer := fetch.NetDialer(addrguard.New(nil, nil, upstreams).Upstream())
	o := c.DNS
	o.Upstreams, o.IPv6 = upstreams, true
	o.NegativeTTL = max(dnsres.Options{}.WithDefaults().NegativeTTL, o.TTLMin)
	r, err := dnsres.New(o, dnsres.NetExchanger{Dial: dialer.DialContext})
	if err != nil {
		return err
	}
	seams.Resolver = r
	return nil
}

func (c *crawlCmd) hashed(seams *engine.Seams, n string, resolvers int) error {
	if c.Proxy == "" || resolvers > 1 {
		return errors.New("hashed makes addresses up, so it needs --proxy and no other resolver beside it")
	}
	h := dnsres.Hashed{}
	if n != "" {
		v, err := strconv.ParseUint(n, 10, 32)
		if err != nil || v == 0 || v > 1<<28 {
			return fmt.Errorf("hashed:%s: N is between 1 and %d", n, 1<<28)
		}
		h.N = uint32(v)
	}
	seams.Resolver = h
	return nil
}

func proxyAddr(raw string) (netip.AddrPort, error) {
	u, err := url.Parse(raw)
	if err != nil || u.Scheme != "http" || u.Hostname() == "" {
		return netip.AddrPort{}, fmt.Errorf("%q is no proxy such as http://127.0.0.1:8080", withoutUser(raw))
	}
	host, port := u.Hostname(), u.Port()
	if host == "localhost" {
		host = "127.0.0.1"
	}
	if port == "" {
		port = "80"
	}
	a, err := netip.ParseAddrPort(host + ":" + port)
	if strings.Contains(host, ":") {
		a, err = netip.ParseAddrPort("[" + host + "]:" + port)
	}
	if err != nil {
		return a, fmt.Errorf("%q: give the proxy's address, not its name", withoutUser(raw))
	}
	return a, nil
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

func newLog(out interface{ Write([]byte) (int, error) }) *slog.Logger {
	return slog.New(slog.NewTextHandler(out, nil))
}
