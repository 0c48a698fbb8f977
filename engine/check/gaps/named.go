package gaps

import (
	"errors"
	"fmt"
	"io"
	"net/netip"
	"slices"
	"strings"

	"orbweaver/engine/net/politeness"
	"orbweaver/internal/urlx"
	"orbweaver/warc"
	"orbweaver/warc/member"
)

// name reads the records of the worst gaps again.
func (a *auditor) name() error {
	if err := a.nameAll(&a.report.Sites, false); err != nil {
		return err
	}
	return a.nameAll(&a.report.Addresses, true)
}

func (a *auditor) nameAll(g *Gaps, byAddress bool) error {
	for i := range g.worst {
		one := &g.worst[i]
		out := Gap{
			Violated: one.isViolated, Count: one.violations, Seconds: seconds(one.micros),
			Required: seconds(one.required.micros), Rule: one.required.rule,
		}
		earlier, err := a.record(one.earlier)
		if err != nil {
			return err
		}
		later, err := a.record(one.later)
		if err != nil {
			return err
		}
		out.Of = a.keyOf(&later, byAddress)
		if one.hasEarlier {
			out.Earlier = earlier
		}
		if one.hasLater {
			out.Later = later
		}
		g.Worst = append(g.Worst, out)
	}
	return nil
}

// keyOf returns the site or the address of a record.
func (a *auditor) keyOf(n *Named, byAddress bool) string {
	if !byAddress {
		url, err := urlx.Normalize(nil, []byte(n.URL))
		if err != nil {
			return n.URL
		}
		site, _ := urlx.Split(url)
		return string(site)
	}
	if n.group != "" {
		return "group " + n.group
	}
	addr, err := netip.ParseAddr(n.IP)
	if err != nil {
		return n.IP
	}
	bits := a.o.Stated.IPv6Prefix
	key := politeness.AddrKeys(bits).KeyOf(addr)
	if key != addr.Unmap() {
		return netip.PrefixFrom(key, bits).String()
	}
	return key.String()
}

// record reads the header of one record.
func (a *auditor) record(at place) (n Named, err error) {
	in := &a.files[at.file()]
	file, err := a.fsys.Open(in.name)
	if err != nil {
		return n, fmt.Errorf("gaps: %w", err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	o := warc.ReaderOptions{Name: in.name, Base: at.offset(), Unbounded: true}
	if strings.Contains(in.name, ".warc.zst") {
		if o.Dictionary, _, err = member.ReadDictionary(file); err != nil {
			return n, fmt.Errorf("gaps: %s: %w", in.name, err)
		}
	}
	z := warc.NewReader(io.NewSectionReader(file, at.offset(), in.size-at.offset()), o)
	defer z.Close()
	rec, err := z.Next()
	if err != nil {
		return n, fmt.Errorf("gaps: %w", err)
	}
	_, group := new(exchange).takeField(rec)
	return Named{
		group: group, ID: rec.ID.String(), URL: string(rec.TargetURI), Date: rec.Date, IP: rec.Get("WARC-IP-Address"),
		File: in.name, Offset: at.offset(),
	}, nil
}

// statedMost is the number of settings that a report lists.
const statedMost = 100

// addStated adds what some files state, once.
func (r *Report) addStated(d Delays, isProxy bool) {
	one := Stated{
		HostDelay: d.Host.Seconds(), IPDelay: d.IP.Seconds(), CrawlDelayMax: d.CrawlDelayMax.Seconds(),
		RetryAfterMax: d.RetryAfterMax.Seconds(), IPv6Prefix: d.IPv6Prefix, Proxy: isProxy,
	}
	if len(r.Stated) < statedMost && !slices.Contains(r.Stated, one) {
		r.Stated = append(r.Stated, one)
	}
}
