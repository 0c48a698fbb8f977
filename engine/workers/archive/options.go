package archive

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"orbweaver/engine/net/bodyfile"
	"orbweaver/engine/net/fetch"
	"orbweaver/engine/page/filter"
	"orbweaver/engine/state/layout"
	"orbweaver/engine/store/journal"
	"orbweaver/engine/store/receipts"
	"orbweaver/engine/workers/parsers"
	"orbweaver/internal/vfs"
	"orbweaver/warc"
	"orbweaver/warc/member"
)

// Options configure the WARC files and what they tell about the crawl.
type Options struct {
	Compression warc.Compression     `name:"warc-compression" type:"word" help:"gzip, zstd or none. zstd is smaller; fewer programs read it." oneof:"gzip,zstd,none" default:"gzip" placeholder:"MODE"`
	Level       int                  `name:"warc-level" help:"Compression level, 1 (fast) to 9 (small)." default:"1" least:"1" most:"9" placeholder:"N"`
	SizeMax     int64                `name:"warc-size" help:"Size at which the next WARC file begins." default:"1GiB" type:"size" least:"64KiB" most:"1TiB" placeholder:"SIZE"`
	Metadata    parsers.MetadataMode `name:"warc-metadata" type:"word" help:"Metadata records: auto, if the other records do not tell all; all; or none." oneof:"auto,all,none" default:"auto" placeholder:"MODE"`
	Via         bool                 `name:"warc-via" help:"Store with each queued URL the page that linked to it, for metadata records and the name 'via' in --fetch and --store. The frontier grows by the length of that URL."`
	Outlinks    bool                 `name:"warc-outlinks" help:"List in metadata records the links of each page."`
	DNS         DNSRecords           `name:"warc-dns" type:"word" help:"Records of the answers of name servers: all or none." oneof:"none,all" default:"all" zero:"meant" placeholder:"MODE"`
	Manifest    ManifestMode         `name:"warc-manifest" type:"word" help:"SHA-256 of each closed file in warc/manifest.jsonl: all or none." oneof:"all,none" default:"all" placeholder:"MODE"`

	Operator    string   `help:"Person or organisation that runs the crawl, for the archive's warcinfo." placeholder:"NAME" basic:""`
	Description string   `name:"description" help:"Description of the crawl, for the archive's warcinfo." placeholder:"TEXT"`
	IsPartOf    string   `name:"is-part-of" help:"Collection that the crawl belongs to, for the archive's warcinfo; without it the identifier of the crawl." placeholder:"NAME"`
	InfoFields  []string `name:"warc-info" help:"Further line for the archive's warcinfo, such as 'audience: researchers'. Repeatable." placeholder:"'NAME: VALUE'" sep:"none"`
	Prefix      string   `name:"warc-prefix" help:"Begin of the names of the WARC files." default:"orbweaver" placeholder:"NAME"`

	RobotsIgnored []string `kong:"-"` // hosts whose robots.txt forbids nothing, each with the reason
	stateDelays   bool     // see MetadataOptions

	Dictionary []byte `kong:"-"` // of zstd, for all files; nil for none
	Version    string `kong:"-"` // of the program, for warcinfo
	Effective  string `kong:"-"` // the configuration as text, for warcinfo's digest

	Host           string `kong:"-" default:"localhost"`        // in the names of the WARC files
	JournalReserve int64  `kong:"-" default:"1MiB" type:"size"` // bytes of disk that a journal reserves at a time
}

// DNSRecords says whether answers of name servers are archived. It needs a resolver that asks them itself.
type DNSRecords uint8

// The choices, in the order of the flag's words.
const (
	DNSNone DNSRecords = iota
	DNSAll
)

// ManifestMode says whether the manifest of closed files is kept.
type ManifestMode uint8

// The choices, in the order of the flag's words.
const (
	ManifestAll ManifestMode = iota
	ManifestNone
)

// Info is the block of the warcinfo record of each file. fetching are the options by which servers were asked, delays
// are those of DelayFields.
func (o *Options) Info(crawlID string, fetching *fetch.Options, delays ...warc.Field) []warc.Field {
	fields := []warc.Field{
		{Name: "software", Value: "orbweaver/" + o.Version},
		{Name: "format", Value: "WARC File Format 1.1"},
		{Name: "conformsTo", Value: "https://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/"},
		{Name: "hostname", Value: o.Host},
		{Name: "http-header-user-agent", Value: fetching.UserAgent},
		{Name: "robots", Value: "obey (RFC 9309)"},
		{Name: "isPartOf", Value: cmp.Or(o.IsPartOf, crawlID)},
		{Name: "payload-digest", Value: "sha1 of the body without transfer coding, content coding kept"},
	}
	for _, f := range []warc.Field{
		{Name: "http-header-from", Value: fetching.Contact},
		{Name: "operator", Value: o.Operator},
		{Name: "description", Value: o.Description},
	} {
		if strings.TrimSpace(f.Value) != "" {
			fields = append(fields, f)
		}
	}
	fields = append(fields, delays...)
	if fetching.Proxy != nil {
		fields = append(fields, warc.Field{Name: ProxyField, Value: "yes"}) // WARC-IP-Address is that of the proxy
	}
	if fetching.HTTP2 || fetching.ProbeHTTP2 {
		fields = append(fields, warc.Field{Name: HTTP2Field, Value: "rendered as HTTP/1.1 where WARC-Protocol says h2"})
	}
	for _, line := range o.RobotsIgnored {
		fields = append(fields, warc.Field{Name: "robots-ignored", Value: line})
	}
	for _, line := range o.InfoFields {
		name, value, _ := strings.Cut(line, ":")
		fields = append(fields, warc.Field{Name: strings.TrimSpace(name), Value: strings.TrimSpace(value)})
	}
	if o.IsPartOf != "" {
		fields = append(fields, warc.Field{Name: "crawl-id", Value: crawlID})
	}
	return fields
}

// Validate reports what is wrong with the names and lines for the archive.
func (o *Options) Validate() error {
	var faults []error
	if err := (warc.Options{Prefix: o.Prefix}).WithDefaults().Validate(); err != nil {
		faults = append(faults, fmt.Errorf("--warc-prefix: %w", err))
	}
	own := []string{
		"software", "format", "conformsto", "hostname", "http-header-user-agent", "http-header-from", "robots", "ispartof",
		"payload-digest", "operator", "description", "crawl-id", "robots-ignored",
		HostDelayField, IPDelayField, CrawlDelayMaxField, RetryAfterMaxField, IPv6PrefixField, ProxyField, HTTP2Field,
	}
	for _, line := range o.InfoFields {
		name, value, found := strings.Cut(line, ":")
		name = strings.TrimSpace(name)
		info := warc.Options{Info: []warc.Field{{Name: name, Value: value}}}
		switch {
		case !found || strings.TrimSpace(value) == "" || info.WithDefaults().Validate() != nil,
			strings.ContainsFunc(value, func(r rune) bool { return r < ' ' || r == 0x7f }):
			faults = append(faults, fmt.Errorf("--warc-info: %q is not a line such as 'audience: researchers'", line))
		case slices.Contains(own, strings.ToLower(name)):
			faults = append(faults, fmt.Errorf("--warc-info: the crawler writes %s itself", name))
		}
	}
	return errors.Join(faults...)
}

// Encoder makes what packs records. scratch takes what is too large for memory; nil for records that are never so.
func (o *Options) Encoder(scratch member.Scratch) (*warc.Encoder, error) {
	encoder, err := warc.NewEncoder(warc.EncoderOptions{
		Compression: o.Compression, Level: o.Level, Dictionary: o.Dictionary, Scratch: scratch,
	})
	if err != nil {
		return nil, fmt.Errorf("archive: %w", err)
	}
	return encoder, nil
}

// OpenBodies opens the files of long bodies, and removes what a killed run has left. wait is called when the disk is
// full.
func (o *Options) OpenBodies(
	fsys vfs.FS, dir string, most bodyfile.Most,
	wait func(ctx context.Context, err error) error, warn func(msg string, args ...any),
) (*bodyfile.Store, error) {
	store, err := bodyfile.Open(bodyfile.Options{
		FS: fsys, Dir: dir + "/" + layout.BodiesDir, Most: most, Wait: wait, Warn: warn,
		DomainOf: filter.Domain,
	})
	if err != nil {
		return nil, fmt.Errorf("archive: %w", err)
	}
	return store, nil
}

// Open opens the archive of the crawl in dir for writing, behind end. earlier is the size of what earlier runs left,
// with the files that were removed here.
func (o *Options) Open(
	fsys vfs.FS, dir string, info []warc.Field, end *warc.Checkpoint,
) (w *warc.Writer, earlier int64, err error) {
	dir += "/" + layout.ArchiveDir
	o.stateDelays = !statesDelays(fsys, dir, info, end)
	manifest, err := o.openManifest(fsys, dir, end)
	if err != nil {
		return nil, 0, fmt.Errorf("archive: %w", err)
	}
	w, err = warc.OpenWriter(fsys, warc.Options{
		Dir: dir, Prefix: o.Prefix, Host: o.Host, SizeMax: o.SizeMax,
		Compression: o.Compression, Level: o.Level, Dictionary: o.Dictionary, Info: info, FinishLater: true,
		Listeners: manifest.listeners,
	}, end)
	if err != nil {
		return nil, 0, err
	}
	err = manifest.complete()
	total, sizeErr := journal.ArchiveBytes(receipts.Over(fsys), dir)
	err = errors.Join(err, sizeErr)
	if err != nil {
		return nil, 0, errors.Join(err, w.Abandon())
	}
	return w, total - w.Stats().Bytes, nil
}
