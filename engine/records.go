package engine

import (
	"bytes"
	"fmt"

	"orbweaver/engine/attempt"
	"orbweaver/engine/fetch"
	"orbweaver/engine/filter"
	"orbweaver/engine/journal"
	"orbweaver/engine/outcome"
	"orbweaver/engine/seen"
	"orbweaver/warc"
)

// recordPlan is what is to be written about one attempt; the records themselves wait in the encoder.
type recordPlan struct {
	store           bool // write records at all
	page            bool // counts as a page: a final 2xx that is no robots.txt, or what is unchanged
	revisit         bool
	unchanged       bool // the server says that it is as it was: a revisit of what the flight names
	payloadInRecord bool
	claim           journal.Claim
	first           seen.First // of the payload, if revisit
}

// records is a parse worker's scratch for building them.
type records struct {
	response, request, metadata warc.Record
	index                       warc.IndexInfo
	fields                      []byte // block of the metadata record
}

// plan decides what to write and packs it into the worker's encoder.
func (w *parseWorker) plan(p *fetch.Page, f *attempt.Attempt) (recordPlan, error) {
	unchanged := attempt.IsUnchanged(p, f)
	plan := recordPlan{page: !f.IsRobots && !f.WillRetry && (outcome.IsPageStatus(p.Status) || unchanged), unchanged: unchanged}
	w.encoder.Reset()
	dedupe := !f.IsRobots && !f.WillRetry && p.Complete && p.PayloadLen > 0
	if dedupe {
		first, ok, err := w.ledger.Seen.Lookup(p.Digest)
		if err != nil {
			return plan, fmt.Errorf("engine: content seen: %w", err)
		}
		plan.revisit, plan.first = ok, first
	}
	if plan.store = w.keeps(p, f, &plan); !plan.store {
		plan.revisit = false
		return plan, nil
	}
	plan.payloadInRecord = !plan.revisit && !plan.unchanged
	if err := w.pack(p, f, &plan); err != nil {
		return plan, err
	}
	w.encoder.Pack(w.ledger.Writer)
	if dedupe && !plan.revisit {
		first := seen.First{RecordID: w.records.response.ID, URI: string(f.URL), Date: p.Started}
		plan.claim = journal.NewClaim(p.Digest, first)
	}
	return plan, nil
}

// annotation is what the crawl log says about the records.
func (plan *recordPlan) annotation() string {
	switch {
	case !plan.store:
		return "notStored"
	case plan.revisit:
		return "duplicate:digest"
	case plan.unchanged:
		return "duplicate:server-not-modified"
	default:
		return ""
	}
}

// keeps asks the store filter; robots.txt is kept unless nothing is. An unchanged page is what it was when it was
// stored, and a duplicate. The answer to a proof is no capture.
func (w *parseWorker) keeps(p *fetch.Page, f *attempt.Attempt, plan *recordPlan) bool {
	if f.IsProbe {
		return false
	}
	if answer, constant := w.store.Constant(); constant {
		return answer
	}
	if f.IsRobots {
		return true
	}
	page := w.contentOf(p)
	return w.store.Keeps(f.URL, filter.Way{Depth: f.Depth, Hops: f.Redirects}, &filter.Response{
		Status: page.Status, ContentType: page.ContentType(), Size: page.PayloadLen, Truncated: page.Cut != fetch.NotCut,
		Duplicate: plan.revisit || plan.unchanged, Via: f.Via,
	})
}

// pack builds the response or revisit, the request and, when there is something to say, a metadata record.
func (w *parseWorker) pack(p *fetch.Page, f *attempt.Attempt, plan *recordPlan) error {
	rs := &w.records
	mime, _, _ := bytes.Cut(p.ContentType(), []byte{';'})
	rs.index = warc.IndexInfo{Status: p.Status, MIME: bytes.TrimSpace(mime)}
	rs.response = warc.Record{
		Type: warc.Response, Date: p.Started, TargetURI: f.URL, IP: p.Remote.Addr(), Index: &rs.index,
		Truncated: truncation(p.Cut), Block: append(rs.response.Block[:0], p.Raw),
	}
	if p.Complete {
		rs.response.BlockDigest = &p.BlockDigest
		if p.PayloadLen > 0 {
			rs.response.PayloadDigest = &p.Digest
		}
	}
	if !p.HasHead() {
		rs.response.Type, rs.response.ContentType, rs.response.Truncated = warc.Resource, mediaRaw, headTruncation(p)
		rs.index.MIME = []byte(mediaRaw)
	}
	if plan.revisit {
		r := &rs.response
		r.Type, r.Profile = warc.Revisit, warc.ProfileIdentical
		r.RefersTo, r.RefersToURI, r.RefersToDate = plan.first.RecordID, plan.first.URI, plan.first.Date
		r.Block, r.BlockDigest = append(r.Block[:0], p.Head()), nil
	}
	if plan.unchanged {
		r := &rs.response
		r.Type, r.Profile = warc.Revisit, warc.ProfileNotModified
		r.RefersTo, r.RefersToURI, r.RefersToDate = f.Previous.RecordID, f.Previous.URI, f.Previous.Date
		r.PayloadDigest = (*[20]byte)(f.Previous.Digest)
	}
	if err := w.encoder.Append(&rs.response); err != nil {
		return fmt.Errorf("engine: archive: %w", err)
	}
	rs.request = warc.Record{
		Type: warc.Request, Date: p.Started, TargetURI: f.URL, IP: p.Remote.Addr(), ConcurrentTo: rs.response.ID,
		Block: append(rs.request.Block[:0], p.Request),
	}
	if err := w.encoder.Append(&rs.request); err != nil {
		return fmt.Errorf("engine: archive: %w", err)
	}
	if rs.fields = w.appendFields(rs.fields[:0], p, f); len(rs.fields) == 0 {
		return nil
	}
	rs.metadata = warc.Record{
		Type: warc.Metadata, Date: p.Started, TargetURI: f.URL, ConcurrentTo: rs.response.ID,
		Block: append(rs.metadata.Block[:0], rs.fields),
	}
	if err := w.encoder.Append(&rs.metadata); err != nil {
		return fmt.Errorf("engine: archive: %w", err)
	}
	return nil
}

// mediaRaw is the type of what came in place of an answer: bytes without a whole head of HTTP. It is a resource, since
// a response would have to be one.
const mediaRaw = "application/octet-stream"

// headTruncation says why an answer without a whole head ends where it does.
func headTruncation(p *fetch.Page) warc.Truncation {
	switch {
	case p.Flags&fetch.FlagNotHTTP != 0 && p.Cut == fetch.CutUnspecified:
		return warc.TruncatedNone // it is what it is, and whole
	case p.Cut != fetch.NotCut:
		return truncation(p.Cut)
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

func truncation(c fetch.Cut) warc.Truncation {
	switch c {
	case fetch.NotCut:
		return warc.TruncatedNone
	case fetch.CutLength:
		return warc.TruncatedLength
	case fetch.CutTime:
		return warc.TruncatedTime
	case fetch.CutDisconnect:
		return warc.TruncatedDisconnect
	default:
		return warc.TruncatedUnspecified
	}
}
