package counters

import (
	"encoding/binary"
	"io"
	"maps"
	"math"
	"sync"
	"sync/atomic"

	"orbweaver/internal/histogram"
	"orbweaver/internal/outcome"
)

// Reported are the counters that stand in report.json. A counter is declared here and nowhere else: its field, its name
// in the report (json), its metric without the prefix orbweaver_ and the help of it, and its name in the manifest if
// that is not the field's. engine/operate/report describes the tags. A counter that only the manifest has is a field of
// Set.
type Reported[N any] struct {
	URLsFound    N `json:"urls_found" metric:"urls_found_total" help:"Links and seeds, repetitions included." saved:"Found"`
	URLsAdmitted N `json:"urls_admitted" metric:"urls_admitted_total" help:"New URLs in scope." saved:"Admitted"` // by the sieve

	PagesStored    N `json:"pages_stored" metric:"pages_stored_total" help:"Pages stored as response records." saved:"Pages"`
	RevisitsStored N `json:"revisits_stored" metric:"revisits_stored_total" help:"Pages stored as revisit records." saved:"Revisits"`
	PagesUnchanged N `json:"pages_unchanged" metric:"pages_unchanged_total" help:"Pages that the server called unchanged, in this pass." saved:"Unchanged"`
	PagesNotStored N `json:"pages_not_stored" saved:"NotStored"` // that --store refused
	// Page requisites count as pages everywhere but at --max-pages: these two say how many of the stored ones they are.
	RequisitesStored    N `json:"requisites_stored" metric:"requisites_stored_total" help:"Of pages_stored, page requisites."`
	RequisitesRevisited N `json:"requisites_revisited" metric:"requisites_revisited_total" help:"Of revisits_stored and pages_unchanged, page requisites."`
	PagesPartlyParsed   N `json:"pages_partly_parsed" metric:"pages_partly_parsed_total" help:"Pages with links whose first 16 MiB only were searched for links."`
	PagesNotParsed      N `json:"pages_not_parsed" metric:"pages_not_parsed_total" help:"Pages that were not searched for links." saved:"NotParsed"`

	NearDuplicates N `json:"near_duplicates" metric:"near_duplicates_total" help:"Pages whose text has nearly the same words as that of an earlier page."`

	MinedTried N `json:"mined_tried" metric:"mined_tried_total" help:"URLs that no page links to and that were tried (--mine)."`
	MinedFound N `json:"mined_found" metric:"mined_found_total" help:"Of mined_tried, pages that have something new."`

	Userinfo N `json:"userinfo_removed"` // references with a user or a password, which are neither sent nor kept

	Attempts      N `json:"attempts" metric:"attempts_total" help:"Exchanges for pages."` // failed or not
	Retries       N `json:"retries" metric:"retries_total" help:"Exchanges that must be repeated."`
	BytesReceived N `json:"bytes_received" metric:"received_bytes_total" help:"Response bytes as on the wire."`
	RobotsFetched N `json:"robots_fetched" metric:"robots_fetched_total" help:"Exchanges for robots.txt."`
	DelaysCapped  N `json:"crawl_delays_capped" metric:"crawl_delays_capped_total" help:"Files robots.txt that asked for a longer Crawl-delay than is kept." saved:"DelayCapped"`
	RetryClamped  N `json:"retry_after_clamped" metric:"retry_after_clamped_total" help:"Answers with a Retry-After below zero or above the limit, a day."`
	IPsSlowed     N `json:"ip_slowdowns" metric:"ip_slowdowns_total" help:"Exchanges whose IP address then waited longer, since several of its sites were in trouble."`
	ParseFaults   N `json:"parse_faults" metric:"parse_faults_total" help:"Pages whose parser panicked."` // a bug; saved for the fuzzers
	// BadCertificates counts answers in all runs; certificate_faults has them by fault, in this run.
	BadCertificates  N `json:"bad_certificates" metric:"bad_certificates_total" help:"Answers of servers whose certificate does not verify."`
	PDFsParsed       N `json:"pdfs_parsed" metric:"pdfs_parsed_total" help:"PDF documents that were searched for links."`
	PDFsEncrypted    N `json:"pdfs_encrypted" metric:"pdfs_encrypted_total" help:"Of pdfs_parsed, documents that need a password, so that their links are not known (pdf-encrypted in crawl.log)."`
	PDFsPartlyParsed N `json:"pdfs_partly_parsed" metric:"pdfs_partly_parsed_total" help:"Of pdfs_parsed, documents with parts that are damaged or too large (pdf-partly-parsed in crawl.log)."`
	NoSitemaps       N `json:"no_sitemaps" metric:"no_sitemaps_total" help:"Files that a robots.txt or a sitemap index calls a sitemap, and that are none (no-sitemap in crawl.log)."`
	BadEncodings     N `json:"bad_encodings" metric:"bad_encodings_total" help:"Pages whose content encoding is false or damaged, or unpacks to too much."`
}

// Set is all counters as numbers of one kind: N is int64 in Totals and atomic.Int64 in Live. Names in the manifest are
// those of the fields, or of the tag saved. Fields with the tag dropped are in the report under that reason.
//
// When no step is under way they balance (E1):
//
//	URLsFound    = DroppedSyntax + DroppedScheme + DroppedLong + DroppedScope + DroppedDepth + DroppedFollow
//	               + DroppedNear + DroppedHook + DroppedLoop + DroppedCache + Sieved + Sent
//	Sieved       = still in the sieve's buckets + Known + URLsAdmitted
//	URLsAdmitted = sum of Outcomes + queued + in flight
type Set[N any] struct {
	Reported[N]

	Sieved   N // given to the sieve
	Sent     N // sent to the agents that own their hosts
	Received N // of those found, sent by other agents
	LinksOut N // of those found, links to another host than that of their page; counted when there are other agents
	Known    N `dropped:"seen-sieve"` // dropped by the sieve: in its store, or twice in a bucket

	DroppedSyntax N `dropped:"syntax"`              // no URL
	DroppedScheme N `dropped:"scheme"`              // neither http nor https: mailto, javascript, data, ...
	DroppedLong   N `dropped:"too-long"`            // longer than --max-url
	DroppedScope  N `dropped:"scope"`               // out of scope, or refused by a list of hosts, SURTs or extensions
	DroppedFollow N `dropped:"follow"`              // links that --follow refused
	DroppedNear   N `dropped:"near-duplicate"`      // links of near-duplicates, by --near-duplicates skip-links
	DroppedHook   N `dropped:"hook"`                // links that the program of --hook link dropped
	DroppedDepth  N `dropped:"depth"`               // deeper than --max-depth
	DroppedLoop   N `dropped:"path-loop"`           // by versions that kept no list of skipped URLs: --max-path-repeats
	DroppedCache  N `dropped:"seen-cache"`          // in the fingerprint cache
	DroppedLinks  N `dropped:"links-per-page"`      // beyond the number of links taken from one page
	DroppedBytes  N `dropped:"link-bytes-per-page"` // links of one page whose URLs would be longer than its size allows

	Unparsed  N // pages whose links were known, since the same bytes came from the same directory
	Unclaimed N // responses that payload deduplication could not note: copies of them are stored whole
	BytesSent N // of requests
	// Unrecorded are responses with status 2xx without a record that are no page: proofs that a failing site serves
	// pages, and retries and robots.txt files that the store filter refused.
	Unrecorded N

	Skipped  [SkipRulesMost]N  // URLs in the list of skipped ones, by rule
	Outcomes [outcome.Count]N  // of admitted URLs, final ones only
	Statuses [600]N            // of responses, pages and robots.txt; index 0 counts those outside 100 to 599
	Types    [mediaTypesMost]N // of the last answers to URLs, by MediaType
	Depths   [depthsMost]N     // of pages: links from a seed
}

// Totals are what the crawl has done, as plain numbers. They belong to the checkpoint: after a crash they are what the
// manifest and the journal say.
type Totals Set[int64]

// Finished is the number of admitted URLs that have their outcome.
func (t *Totals) Finished() (n int64) {
	for _, v := range t.Outcomes {
		n += v
	}
	return n
}

// Stored is the number of pages that have a record of this pass.
func (t *Totals) Stored() int64 { return t.PagesStored + t.RevisitsStored + t.PagesUnchanged }

// Documents is the number of pages that have a record of this pass and are no page requisites: what --max-pages counts.
func (t *Totals) Documents() int64 { return t.Stored() - t.RequisitesStored - t.RequisitesRevisited }

// Live is the live form: many goroutines add to it, each within a step; the checkpointer copies it while no step is
// under way.
type Live struct {
	Set[atomic.Int64]
	Finished      atomic.Int64 // sum of Outcomes
	Distributions Distributions
	Sums          Sums // of the user; not in Totals
}

// Documents is Totals.Documents of now, about.
func (c *Live) Documents() int64 {
	return c.PagesStored.Load() + c.RevisitsStored.Load() + c.PagesUnchanged.Load() - c.RequisitesStored.Load() -
		c.RequisitesRevisited.Load()
}

// Finish counts n admitted URLs as done with outcome o.
func (c *Live) Finish(o outcome.Outcome, n int64) {
	c.Outcomes[o].Add(n)
	c.Finished.Add(n)
}

// CountStatus counts a response by its HTTP status.
func (c *Live) CountStatus(code int) {
	if code < 100 || code > 599 {
		code = 0
	}
	c.Statuses[code].Add(1)
}

// Load returns the counts of now. They agree with each other only while no step is under way.
func (c *Live) Load() (t Totals) {
	c.eachPair(&t, func(live *atomic.Int64, plain *int64) { *plain = live.Load() })
	return t
}

// Store sets all counts.
func (c *Live) Store(t Totals) {
	c.eachPair(&t, func(live *atomic.Int64, plain *int64) { live.Store(*plain) })
	c.Finished.Store(t.Finished())
}

// Sums are numbers that the user has added up, by name: --stat and --hook. They are in the checkpoint, and what came
// after it is in the journal. Safe for concurrent use. The zero value is ready.
type Sums struct {
	mu struct {
		sync.Mutex
		of map[string]float64
	}
}

// sumsMost is the largest number of names: programs of the user name them, too (--hook).
const sumsMost = 256

// Add adds to a number. 0 makes it known. A name that is not known is left out if there are sumsMost. A sum that would
// be infinite is the largest number there is, since JSON has no infinity: the manifest could not be written, and never
// again. What is no number adds nothing.
func (s *Sums) Add(name string, n float64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.mu.of == nil {
		s.mu.of = make(map[string]float64)
	}
	if _, isKnown := s.mu.of[name]; isKnown || len(s.mu.of) < sumsMost {
		s.mu.of[name] = finite(s.mu.of[name] + finite(n))
	}
}

// finite returns the finite number that is nearest to n, and 0 for what is no number.
func finite(n float64) float64 {
	if math.IsNaN(n) {
		return 0
	}
	return max(-math.MaxFloat64, min(math.MaxFloat64, n))
}

// Load returns a copy of all; nil for none.
func (s *Sums) Load() map[string]float64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.mu.of)
}

// Store sets all.
func (s *Sums) Store(of map[string]float64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mu.of = maps.Clone(of)
}

// AddAll adds the numbers that AppendSum wrote. An error means that b is damaged; those before the damage are added.
func (s *Sums) AddAll(b []byte) error {
	for len(b) > 0 {
		size, head := binary.Uvarint(b)
		if head <= 0 || len(b)-head < 8 || size > uint64(len(b)-head-8) {
			return io.ErrUnexpectedEOF
		}
		name, rest := b[head:][:size], b[head+int(size):]
		s.Add(string(name), math.Float64frombits(binary.LittleEndian.Uint64(rest)))
		b = rest[8:]
	}
	return nil
}

// AppendSum appends a number for AddAll, as a journal entry has it: a uvarint with the length of the name, the name,
// and the bits of the number, little-endian.
func AppendSum(dst []byte, name string, n float64) []byte {
	dst = append(binary.AppendUvarint(dst, uint64(len(name))), name...)
	return binary.LittleEndian.AppendUint64(dst, math.Float64bits(n))
}

// Distributions are how long the parts of exchanges take, how large bodies are, and how long sites are left alone, in
// this run. They are metrics alone: neither in report.json nor in the manifest. A field is declared like a counter; its
// label has the value behind the equals sign.
type Distributions struct {
	Connect   histogram.Durations `metric:"fetch_phase_seconds" label:"phase=connect" help:"Time of the phases of exchanges with a response, in this run: connect, first_byte, body."`
	FirstByte histogram.Durations `metric:"fetch_phase_seconds" label:"phase=first_byte" help:"Time of the phases of exchanges with a response, in this run: connect, first_byte, body."`
	Body      histogram.Durations `metric:"fetch_phase_seconds" label:"phase=body" help:"Time of the phases of exchanges with a response, in this run: connect, first_byte, body."`

	BodySize histogram.Sizes     `metric:"response_body_bytes" help:"Bytes of bodies of responses, without chunking, in this run."`
	Gap      histogram.Gaps      `metric:"politeness_gap_seconds" help:"Time from the end of an exchange with a site to the start of the next one, in this run. Sites that were on disk meanwhile are not counted."`
	Sync     histogram.Durations `metric:"journal_sync_seconds" help:"Time of group commits: archive and journal are made durable, in this run."`
}
