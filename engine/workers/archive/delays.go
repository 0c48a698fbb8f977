package archive

import (
	"slices"
	"strconv"
	"strings"

	"orbweaver/engine/net/politeness"
	"orbweaver/engine/workers/parsers"
	"orbweaver/internal/vfs"
	"orbweaver/warc"
)

// The fields of a warcinfo record that state how polite the crawl is. Package gaps holds the records against them.
const (
	HostDelayField     = "host-delay"
	IPDelayField       = "ip-delay"
	CrawlDelayMaxField = "crawl-delay-max"
	RetryAfterMaxField = "retry-after-max"
	IPv6PrefixField    = "ipv6-prefix" // bits of an IPv6 address that share a delay
	ProxyField         = "proxy"       // "yes": WARC-IP-Address is the address of a proxy
	HTTP2Field         = "http2"       // responses over HTTP/2 are not the bytes that were received
)

// DelayFields are the delays of a policy, and which addresses share one, for the warcinfo record.
func DelayFields(p *politeness.Policy, ipv6Prefix int) []warc.Field {
	return []warc.Field{
		{Name: HostDelayField, Value: p.HostDelay.String()},
		{Name: IPDelayField, Value: p.IPDelay.String()},
		{Name: CrawlDelayMaxField, Value: p.CrawlDelayMax.String()},
		{Name: RetryAfterMaxField, Value: p.RetryAfterMax.String()},
		{Name: IPv6PrefixField, Value: strconv.Itoa(ipv6Prefix)},
	}
}

// MetadataOptions say what the records of captures state beside what was fetched. The delays are those of the policy of
// this run. Each capture states its delays if this run continues a file that states others: see Open.
func (o *Options) MetadataOptions(p *politeness.Policy) parsers.MetadataOptions {
	return parsers.MetadataOptions{
		Mode: o.Metadata, Via: o.Via, Outlinks: o.Outlinks, Policy: *p, StateDelays: o.stateDelays,
	}
}

// statesDelays reports whether the file that a resumed run continues states the delays of this run. A file that cannot
// be read, or of an earlier version, does not.
func statesDelays(fsys vfs.FS, dir string, info []warc.Field, end *warc.Checkpoint) bool {
	if end == nil || end.Length == 0 {
		return true // the run begins a file
	}
	files := warc.OpenArchive(fsys, dir)
	defer files.Close() //nolint:errcheck // it was only read
	rec, err := files.ReadStart(warc.Position{Serial: end.Serial}, warc.StartMost)
	if err != nil {
		return false
	}
	lines := slices.Collect(strings.Lines(string(rec.Block)))
	for _, f := range info {
		isDelay := f.Name == HostDelayField || f.Name == IPDelayField || f.Name == CrawlDelayMaxField
		if isDelay && !slices.Contains(lines, f.Name+": "+f.Value+"\r\n") {
			return false
		}
	}
	return true
}
