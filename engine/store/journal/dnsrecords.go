package journal

import (
	"context"
	"errors"
	"fmt"

	"orbweaver/dnsres"
	"orbweaver/engine/net/outage"
	"orbweaver/engine/state/limits"
	"orbweaver/warc"
)

// DNSResolver finds the addresses of a name.
type DNSResolver interface {
	Resolve(ctx context.Context, name string) dnsres.Answer
}

// HearingResolver is a Resolver that also reports what the name servers answered.
type HearingResolver interface {
	ResolveHeard(ctx context.Context, name string, h *dnsres.Heard) dnsres.Answer
}

// DNSSource resolves names for a crawl. An error is one of the archive.
type DNSSource interface {
	// Resolve resolves a name. If the name servers fail, isFirstFailure says whether their failure is worth a record: a
	// name whose servers fail is resolved again and again.
	Resolve(ctx context.Context, name string, isFirstFailure func() bool) (dnsres.Answer, error)
}

// Unrecorded is a Source that stores nothing.
type Unrecorded struct{ Resolver DNSResolver }

// Resolve asks the resolver.
func (u Unrecorded) Resolve(ctx context.Context, name string, _ func() bool) (dnsres.Answer, error) {
	return u.Resolver.Resolve(ctx, name), nil
}

// DNSRecorder is a Source that stores the answers in the archive.
type DNSRecorder struct {
	resolver HearingResolver
	journal  *Store
	limits   *limits.Limits
	turn     chan struct{} // has one slot; the goroutine that filled it has the fields below
	encoder  *warc.Encoder
	record   warc.Record
	block    []byte
	uri      []byte
}

// NewDNSRecorder returns a Recorder for all goroutines of a crawl.
func NewDNSRecorder(r HearingResolver, j *Store, l *limits.Limits, encoder *warc.Encoder) *DNSRecorder {
	return &DNSRecorder{resolver: r, journal: j, limits: l, turn: make(chan struct{}, 1), encoder: encoder}
}

// Resolve resolves a name and stores the answer.
func (r *DNSRecorder) Resolve(ctx context.Context, name string, isFirstFailure func() bool) (dnsres.Answer, error) {
	var h dnsres.Heard
	answer := r.resolver.ResolveHeard(ctx, name, &h)
	denied := errors.Is(answer.Err, dnsres.ErrNotFound)
	if errors.Is(answer.Err, dnsres.ErrServer) {
		denied = isFirstFailure()
	}
	if (answer.Err == nil || denied) && len(h.Records)+len(h.Denials) > 0 {
		return answer, r.store(ctx, name, &h, denied)
	}
	return answer, nil
}

// store waits for free space if the disk is full. If the crawl ends before there is any, the record is left out.
func (r *DNSRecorder) store(ctx context.Context, name string, h *dnsres.Heard, denied bool) error {
	select {
	case r.turn <- struct{}{}:
	case <-ctx.Done():
		return nil
	}
	defer func() { <-r.turn }()
	if err := r.encode(name, h, denied); err != nil {
		return err
	}
	for {
		err := r.append()
		if err == nil {
			return nil
		}
		if err := r.journal.Disk.Wait(ctx, err); errors.Is(err, outage.ErrFullAtStop) {
			return nil
		} else if err != nil {
			return err
		}
	}
}

// encode makes the record: a line with the time, and one for each resource record, in the form of Heritrix. If the name
// has no address, comment lines say so for each question.
func (r *DNSRecorder) encode(name string, h *dnsres.Heard, denied bool) error {
	r.encoder.Reset()
	r.block = append(h.At.UTC().AppendFormat(r.block[:0], "20060102150405"), '\n')
	r.block = append(r.block, h.Records...)
	if denied {
		r.block = append(r.block, h.Denials...)
	}
	r.uri = append(append(r.uri[:0], "dns:"...), name...)
	r.record = warc.Record{
		Type: warc.Response, Date: h.At, TargetURI: r.uri, IP: h.Server.Addr(), ContentType: warc.MediaDNS,
		Block: append(r.record.Block[:0], r.block),
	}
	if h.Omitted > 0 {
		r.record.Truncated = warc.TruncatedLength
	}
	if err := r.encoder.Append(&r.record); err != nil {
		return fmt.Errorf("dnsrecords: archive: %w", err)
	}
	return nil
}

// append appends the record to the archive within a step, like everything that makes the archive longer.
func (r *DNSRecorder) append() error {
	r.journal.Steps.Begin()
	defer r.journal.Steps.End()
	length, err := r.journal.Note(r.encoder)
	if err == nil {
		r.limits.Grown(length)
	}
	return err
}
