package parsers

import (
	"context"
	"fmt"
	"strconv"

	"orbweaver/engine/net/fetch"
	"orbweaver/engine/page/filter"
	"orbweaver/engine/records/capture"
	"orbweaver/engine/records/dedup"
	"orbweaver/engine/state/attempt"
	"orbweaver/engine/state/cluster"
	"orbweaver/engine/state/counters"
	"orbweaver/engine/store/journal"
	"orbweaver/engine/store/otherarchives"
	"orbweaver/internal/mediatype"
	"orbweaver/internal/outcome"
	"orbweaver/warc"
)

// recordPlan says what is written about an attempt. The records are in the encoder.
type recordPlan struct {
	isStored    bool // records are written
	isPage      bool // counts as a page: the final answer for a page, with a status of 2xx or unchanged
	isRevisit   bool // the payload is that of first
	isUnchanged bool // the server says that the page is as in its previous capture, to which the revisit record refers
	hasPayload  bool // the records contain the payload
	claim       journal.Claim
	first       dedup.First
	original    otherarchives.Original // of the payload, if another archive has it
	annotation  string                 // in the crawl log
}

// recordBuilder encodes the records of one attempt at a time.
type recordBuilder struct {
	crawl    *Crawl
	encoder  *warc.Encoder
	metadata metadataWriter
	near     *nearFinder

	response, request, metadataRecord warc.Record
	index                             warc.IndexInfo
	fields                            []byte // block of the metadata record
	lines                             []byte // further fields of the capture
}

func newRecordBuilder(c *Crawl, encoder *warc.Encoder, x *extractor, near *nearFinder) recordBuilder {
	return recordBuilder{crawl: c, encoder: encoder, metadata: newMetadataWriter(c.Metadata, x), near: near}
}

// plan decides what is written, and encodes it. content is p, or the stored page if the page is unchanged.
func (b *recordBuilder) plan(ctx context.Context, p, content *fetch.Page, a *attempt.Attempt) (recordPlan, error) {
	isFinal, isUnchanged := !a.IsRobots && !a.WillRetry, attempt.IsUnchanged(p, a)
	plan := recordPlan{isPage: isFinal && (a.Outcome.IsPage(p.Status) || isUnchanged), isUnchanged: isUnchanged}
	b.encoder.Reset()
	isDeduplicated := isFinal && a.Wall == "" && p.Complete && p.PayloadLen > 0
	if isDeduplicated {
		first, ok, err := b.crawl.Journal.Seen.Lookup(p.Digest)
		if err != nil {
			return plan, fmt.Errorf("parsers: payload deduplication: %w", err)
		}
		plan.isRevisit, plan.first = ok, first
		if !ok {
			if err := b.planOther(ctx, p, &plan); err != nil {
				return plan, err
			}
		}
	}
	if plan.isStored = b.stores(content, a, &plan); !plan.isStored {
		plan.isRevisit, plan.annotation = false, "notStored"
		return plan, nil
	}
	switch {
	case plan.original.Agent != "":
		plan.annotation = "duplicate:other-agent"
	case !plan.original.IsNone():
		plan.annotation = "duplicate:other-archive"
	case plan.isRevisit:
		plan.annotation = "duplicate:digest"
	case plan.isUnchanged:
		plan.annotation = "duplicate:server-not-modified"
	default:
		plan.hasPayload = true
	}
	if err := b.encode(p, a, &plan); err != nil {
		return plan, fmt.Errorf("parsers: archive: %w", err)
	}
	if err := b.encoder.Pack(b.crawl.Journal.Writer); err != nil {
		return plan, fmt.Errorf("parsers: archive: %w", err)
	}
	if isDeduplicated && !plan.isRevisit {
		first := dedup.First{RecordID: b.response.ID, URI: string(a.URL), Date: p.Times.Started}
		plan.claim = journal.NewClaim(p.Digest, first)
	}
	return plan, nil
}

// planOther makes the page a revisit if an archive of another crawl has its payload, or another agent of this one.
func (b *recordBuilder) planOther(ctx context.Context, p *fetch.Page, plan *recordPlan) error {
	original, ok, err := b.crawl.Others.Lookup(p.Digest, p.Times.Started)
	if err == nil && !ok {
		var r cluster.PayloadRecord
		if r, ok, err = b.crawl.Agents.FindPayload(ctx, p.Digest, p.PayloadLen); ok {
			original = otherarchives.Original{First: r.First, File: r.File, Offset: r.Offset, Agent: r.Agent}
		}
	}
	if err != nil {
		return fmt.Errorf("parsers: payload deduplication: %w", err)
	}
	if ok {
		plan.isRevisit, plan.first, plan.original = true, original.First, original
	}
	return nil
}

// release gives back what the records of a long body take outside of memory.
func (b *recordBuilder) release() {
	if b.response.Source.Size > 0 {
		b.response.Source = warc.Source{}
		b.encoder.Reset()
	}
}

// stores asks the store filter. A robots.txt is stored unless the filter refuses everything. The answer to a probe is
// no capture.
func (b *recordBuilder) stores(content *fetch.Page, a *attempt.Attempt, plan *recordPlan) bool {
	if a.IsProbe {
		return false
	}
	filtered := b.crawl.Rules.Load().Store
	if answer, isConstant := filtered.Constant(); isConstant {
		return answer
	}
	if a.IsRobots {
		return true
	}
	return filtered.Keeps(a.URL, wayOf(a), b.responseOf(content, a, plan))
}

func wayOf(a *attempt.Attempt) filter.Way {
	return filter.Way{Depth: a.Depth, Embeds: a.Embeds, Hops: a.Redirects}
}

// responseOf is what filters know of a response.
func (b *recordBuilder) responseOf(content *fetch.Page, a *attempt.Attempt, plan *recordPlan) *filter.Response {
	return &filter.Response{
		Status: content.Status, ContentType: typeOf(content, plan.isUnchanged, a), Size: content.PayloadLen,
		Truncated: content.Truncation != warc.TruncatedNone, Duplicate: plan.isRevisit || plan.isUnchanged, Via: a.Via,
		NeedsRender: b.metadata.links.finder.Render > 0,
	}
}

// appendSums appends the numbers of --stat for an answer, or for a request without one, without those that are 0.
func (b *recordBuilder) appendSums(dst []byte, p, content *fetch.Page, a *attempt.Attempt, plan *recordPlan) []byte {
	stats := b.crawl.Stats
	if len(stats) == 0 {
		return dst
	}
	response := &filter.Response{Via: a.Via}
	if p.HasHead() {
		response = b.responseOf(content, a, plan)
	}
	answer := filter.Answer{
		Outcome: a.Outcome.String(), Stored: plan.isStored, Seconds: p.Times.Ended.Sub(p.Times.Started).Seconds(),
	}
	for _, s := range stats {
		if n := s.Of(a.URL, wayOf(a), response, answer); n != 0 {
			dst = counters.AppendSum(dst, s.Name, n)
		}
	}
	return dst
}

// encode encodes the response or revisit record, the request record and, if it has fields, the metadata record.
func (b *recordBuilder) encode(p *fetch.Page, a *attempt.Attempt, plan *recordPlan) error {
	b.fillResponse(p, a, plan)
	if plan.isRevisit {
		b.makeRevisit(warc.ProfileIdentical, plan.first)
		if !plan.original.IsNone() {
			b.response.Extra = plan.original.Fields()
		}
		b.response.Block, b.response.BlockDigest = append(b.response.Block[:0], p.Head()), nil
		b.response.Source = warc.Source{}
	}
	if plan.isUnchanged {
		b.makeRevisit(warc.ProfileNotModified, a.Previous.First)
		b.response.PayloadDigest = (*[20]byte)(a.Previous.Digest)
	}
	if err := b.encoder.Append(&b.response); err != nil {
		return err
	}
	b.request = warc.Record{
		Type: warc.Request, Date: p.Times.Started, TargetURI: a.URL, IP: p.Connection.Remote.Addr(),
		ConcurrentTo: b.response.ID, Block: append(b.request.Block[:0], p.Request),
	}
	if err := b.encoder.Append(&b.request); err != nil {
		return err
	}
	b.metadata.hasEarlierLinks = plan.isUnchanged || plan.isRevisit && isOwnCapture(a, p, plan)
	if b.fields = b.metadata.appendFields(b.fields[:0], p, a); len(b.fields) == 0 {
		return nil
	}
	b.metadataRecord = warc.Record{
		Type: warc.Metadata, Date: p.Times.Started, TargetURI: a.URL, ConcurrentTo: b.response.ID,
		Block: append(b.metadataRecord.Block[:0], b.fields),
	}
	return b.encoder.Append(&b.metadataRecord)
}

// isOwnCapture reports whether a page that is a revisit has an earlier capture of the same URL with the same payload.
func isOwnCapture(a *attempt.Attempt, p *fetch.Page, plan *recordPlan) bool {
	earlier := a.Previous.Digest
	return plan.first.URI == string(a.URL) && plan.original.IsNone() || earlier != nil && [20]byte(*earlier) == p.Digest
}

// mediaBytes is the type of what a server sent instead of a response: bytes without a whole HTTP head. They are stored
// as a resource record, since a response record must have a head.
const mediaBytes = "application/octet-stream"

// fillResponse makes the response record, as if the payload were new.
func (b *recordBuilder) fillResponse(p *fetch.Page, a *attempt.Attempt, plan *recordPlan) {
	mime, _ := mediatype.Split(typeOf(p, false, a))
	b.lines = b.metadata.appendConnection(b.lines[:0], p)
	if !plan.isRevisit && !plan.isUnchanged {
		b.lines = appendPayloadType(b.lines, p, a, b.metadata.links.finder.Body)
	}
	b.lines = b.near.appendFields(b.metadata.appendExchange(b.lines, p, a))
	if dropped := b.metadata.links.finder.HookDrops(); dropped != "" {
		b.lines = append(append(append(b.lines, capture.DroppedField+": "...), dropped...), "\r\n"...)
	}
	if scores := b.metadata.links.finder.HookScores(); scores != "" {
		b.lines = append(append(append(b.lines, capture.ScoresField+": "...), scores...), "\r\n"...)
	}
	b.index = warc.IndexInfo{Status: p.Status, MIME: mime, SimHash: b.near.simHash()}
	if n := b.metadata.links.finder.Render; n > 0 {
		b.index.Render = strconv.AppendInt(nil, int64(n), 10)
		b.lines = append(append(append(b.lines, warc.RenderField+": "...), b.index.Render...), "\r\n"...)
	}
	b.response = warc.Record{
		Type: warc.Response, Date: p.Times.Started, TargetURI: a.URL, IP: p.Connection.Remote.Addr(), Index: &b.index,
		Lines: b.lines, Truncated: p.Truncation, Block: append(b.response.Block[:0], p.Raw),
	}
	b.response.Source.From, b.response.Source.Size = p.Rest()
	if p.Complete || b.response.Source.Size > 0 {
		b.response.BlockDigest = &p.BlockDigest
	}
	if p.Complete && p.PayloadLen > 0 {
		b.response.PayloadDigest = &p.Digest
	}
	if a.Wall != "" { // a capture of the service, and not of the page: see warc.WallField
		b.response.Index = nil
		b.lines = append(append(append(b.lines, warc.WallField+": "...), a.Wall...), "\r\n"...)
		b.response.Lines = b.lines
	}
	if !p.HasHead() {
		b.response.Type, b.response.ContentType, b.response.Truncated = warc.Resource, mediaBytes, headTruncation(p)
		b.index.MIME = []byte(mediaBytes)
	}
}

// makeRevisit makes the response record a revisit record.
func (b *recordBuilder) makeRevisit(profile string, first dedup.First) {
	r := &b.response
	r.Type, r.Profile = warc.Revisit, profile
	r.RefersTo, r.RefersToURI, r.RefersToDate = first.RecordID, first.URI, first.Date
}

// headTruncation says why an answer without a whole head ends where it does.
func headTruncation(p *fetch.Page) warc.Truncation {
	switch {
	case p.Flags&fetch.FlagNotHTTP != 0 && p.Truncation == warc.TruncatedUnspecified:
		return warc.TruncatedNone // it is not HTTP, and complete
	case p.Truncation != warc.TruncatedNone:
		return p.Truncation
	case p.Outcome == outcome.HeaderTooLarge:
		return warc.TruncatedLength
	case p.Outcome == outcome.HeaderTimeout:
		return warc.TruncatedTime
	case p.Outcome == outcome.Reset:
		return warc.TruncatedDisconnect
	default:
		return warc.TruncatedUnspecified
	}
}
