package engine

import (
	"context"
	"errors"
	"fmt"

	"orbweaver/dnsres"
	"orbweaver/engine/journal"
	"orbweaver/engine/limits"
	"orbweaver/engine/outage"
	"orbweaver/warc"
)

// hearing is what a Resolver may also be: one that tells what the name servers said.
type hearing interface {
	ResolveHeard(ctx context.Context, name string, h *dnsres.Heard) dnsres.Answer
}

// nameRecords writes what name servers said into the archive. No journal entry names these records: a resume keeps
// those before the last one that an entry names, and asks again for the sites of the others.
type nameRecords struct {
	ledger  *journal.Store
	limits  *limits.Limits
	turn    chan struct{} // holds one slot: whoever fills it has what follows
	encoder *warc.Encoder
	record  warc.Record
	block   []byte
	uri     []byte
}

// write stores what was heard about a name. A full disk makes it wait for room; when the crawl ends before there is,
// the record is left out.
func (n *nameRecords) write(ctx context.Context, name string, h *dnsres.Heard, denied bool) error {
	select {
	case n.turn <- struct{}{}:
	case <-ctx.Done():
		return nil
	}
	defer func() { <-n.turn }()
	if err := n.pack(name, h, denied); err != nil {
		return err
	}
	for {
		err := n.append()
		if err == nil {
			return nil
		}
		if err := n.ledger.Disk.Wait(ctx, err); errors.Is(err, outage.ErrFullAtStop) {
			return nil
		} else if err != nil {
			return err
		}
	}
}

// pack makes the record: a line with the time, and one for each resource record, as Heritrix writes them. If the name
// has no address, comment lines say so for each question.
func (n *nameRecords) pack(name string, h *dnsres.Heard, denied bool) error {
	n.encoder.Reset()
	n.block = append(h.At.UTC().AppendFormat(n.block[:0], "20060102150405"), '\n')
	n.block = append(n.block, h.Records...)
	if denied {
		n.block = append(n.block, h.Denials...)
	}
	n.uri = append(append(n.uri[:0], "dns:"...), name...)
	n.record = warc.Record{
		Type: warc.Response, Date: h.At, TargetURI: n.uri, IP: h.Server.Addr(), ContentType: warc.MediaDNS,
		Index: &warc.IndexInfo{MIME: []byte(warc.MediaDNS)}, Block: append(n.record.Block[:0], n.block),
	}
	if h.Omitted > 0 {
		n.record.Truncated = warc.TruncatedLength
	}
	if err := n.encoder.Append(&n.record); err != nil {
		return fmt.Errorf("engine: archive: %w", err)
	}
	return nil
}

// append is a step of the cut, as everything is that makes the archive longer.
func (n *nameRecords) append() error {
	n.ledger.Steps.Begin()
	defer n.ledger.Steps.End()
	length, err := n.ledger.Note(n.encoder)
	if err == nil {
		n.limits.Grown(length)
	}
	return err
}
