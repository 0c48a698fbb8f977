package engine

import (
	"bytes"
	"errors"
	"fmt"

	"orbweaver/engine/fetch"
	"orbweaver/engine/filter"
	"orbweaver/engine/outcome"
	"orbweaver/engine/seen"
	"orbweaver/warc"
)

// errSeenMeanwhile says that an equal payload was stored between the look-up and the writing: the records are to be
// built again, as a revisit.
var errSeenMeanwhile = errors.New("engine: the payload was stored meanwhile")

// statusNotModified answers a conditional request.
const statusNotModified = 304

// recordPlan is what is to be written about one attempt; the records themselves wait in the encoder.
type recordPlan struct {
	store           bool // write records at all
	page            bool // counts as a page: a final 2xx that is no robots.txt, or what is unchanged
	revisit         bool
	unchanged       bool // the server says that it is as it was: a revisit of what the flight names
	payloadInRecord bool
	digest          seen.Digest
	first           seen.First // what this response will be, if it is the first of its payload
	claims          bool
}

// records is a parse worker's scratch for building them.
type records struct {
	response, request, metadata warc.Record
	index                       warc.IndexInfo
	fields                      []byte // block of the metadata record
}

// plan decides what to write and packs it into the worker's encoder.
func (w *parseWorker) plan(p *fetch.Page, f *flight) (recordPlan, error) {
	unchanged := isUnchanged(p, f)
	plan := recordPlan{page: !f.robots && !f.retry && (isPageStatus(p.Status) || unchanged), unchanged: unchanged}
	w.encoder.Reset()
	dedupe := !f.robots && !f.retry && p.Complete && p.PayloadLen > 0
	if dedupe {
		plan.digest = p.Digest
		first, ok, err := w.ledger.seen.Lookup(plan.digest)
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
	w.encoder.Pack(w.ledger.writer)
	if dedupe && !plan.revisit {
		plan.claims = true
		plan.first = seen.First{RecordID: w.records.response.ID, URI: string(f.url), Date: p.Started}
	}
	return plan, nil
}

// isUnchanged says whether this answers a conditional request with the word that what was stored before still holds.
func isUnchanged(p *fetch.Page, f *flight) bool {
	return p.Status == statusNotModified && !f.before.none()
}

// stillFirst says, under the commit lock and before anything is written, whether no equal payload was stored meanwhile.
func (plan *recordPlan) stillFirst(m *seen.Map) error {
	if !plan.claims {
		return nil
	}
	_, there, err := m.Lookup(plan.digest)
	if err != nil {
		return fmt.Errorf("engine: content seen: %w", err)
	}
	if there {
		return errSeenMeanwhile
	}
	return nil
}

// claim makes this response the first of its payload, under the commit lock and after it was written: content-seen never
// names a record that is not in the archive. If it cannot be noted, a later copy is stored whole, which is counted.
func (plan *recordPlan) claim(l *ledger) {
	if !plan.claims {
		return
	}
	if _, _, err := l.seen.Insert(plan.digest, plan.first); err != nil {
		l.n.unclaimed.Add(1)
	}
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

// keeps asks the store filter; robots.txt is kept unless nothing is. An unchanged page is what it was when it was stored, and a duplicate.
// The answer to a proof is no capture.
func (w *parseWorker) keeps(p *fetch.Page, f *flight, plan *recordPlan) bool {
	if f.proof {
		return false
	}
	if answer, constant := w.store.Constant(); constant {
		return answer
	}
	if f.robots {
		return true
	}
	page := w.contentOf(p)
	return w.store.Keeps(f.url, filter.Way{Depth: f.depth, Hops: f.hops}, &filter.Response{
		Status: page.Status, ContentType: page.ContentType(), Size: page.PayloadLen, Truncated: page.Cut != fetch.NotCut,
		Duplicate: plan.revisit || plan.unchanged, Via: f.via,
	})
}

// pack builds the response or revisit, the request and, when there is something to say, a metadata record.
func (w *parseWorker) pack(p *fetch.Page, f *flight, plan *recordPlan) error {
	rs := &w.records
	mime, _, _ := bytes.Cut(p.ContentType(), []byte{';'})
	rs.index = warc.IndexInfo{Status: p.Status, MIME: bytes.TrimSpace(mime)}
	rs.response = warc.Record{
		Type: warc.Response, Date: p.Started, TargetURI: f.url, IP: p.Remote.Addr(), Index: &rs.index,
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
		r.RefersTo, r.RefersToURI, r.RefersToDate = f.before.RecordID, f.before.URI, f.before.Date
		r.PayloadDigest = (*[20]byte)(f.before.digest)
	}
	if err := w.encoder.Append(&rs.response); err != nil {
		return fmt.Errorf("engine: archive: %w", err)
	}
	rs.request = warc.Record{
		Type: warc.Request, Date: p.Started, TargetURI: f.url, IP: p.Remote.Addr(), ConcurrentTo: rs.response.ID,
		Block: append(rs.request.Block[:0], p.Request),
	}
	if err := w.encoder.Append(&rs.request); err != nil {
		return fmt.Errorf("engine: archive: %w", err)
	}
	if rs.fields = w.appendFields(rs.fields[:0], p, f); len(rs.fields) == 0 {
		return nil
	}
	rs.metadata = warc.Record{
		Type: warc.Metadata, Date: p.Started, TargetURI: f.url, ConcurrentTo: rs.response.ID,
		Block: append(rs.metadata.Block[:0], rs.fields),
	}
	if err := w.encoder.Append(&rs.metadata); err != nil {
		return fmt.Errorf("engine: archive: %w", err)
	}
	return nil
}

// mediaRaw is the type of what came in place of an answer: bytes without a whole head of HTTP. It is a resource, since a response
// would have to be one.
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
