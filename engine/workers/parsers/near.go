package parsers

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"strconv"
	"time"

	"orbweaver/engine/net/fetch"
	"orbweaver/engine/page/filter"
	"orbweaver/engine/records/capture"
	"orbweaver/engine/records/dedup"
	"orbweaver/engine/records/neardup"
	"orbweaver/engine/state/attempt"
	"orbweaver/internal/urlx"
)

// nearFinder compares the text of a page with those of earlier pages (--near-duplicates). After compare it has what was
// found for the last Page.
type nearFinder struct {
	known  neardup.Known
	reader neardup.Reader

	fingerprint uint64
	hasText     bool // fingerprint is that of the page
	digits      [simHashLen]byte
	near        neardup.Near
	isNear      bool
	skips       bool // only page requisites are followed
}

// compare compares the page whose links were extracted, and takes its links from a near-duplicate if the mode says so.
// A seed keeps them, and so does a page whose earlier page is on another domain: a hostile mirror that is crawled first
// must not take the links of the original. It may be repeated.
func (f *nearFinder) compare(x *extractor, a *attempt.Attempt) (err error) {
	f.hasText, f.isNear, f.skips = false, false, false
	if f.known.Mode() == neardup.Off || len(x.finder.Text) == 0 {
		return nil
	}
	if f.fingerprint, f.hasText = f.reader.Fingerprint(x.finder.Text); !f.hasText {
		return nil
	}
	if f.near, f.isNear, err = f.known.Find(f.fingerprint, a.URL); err != nil {
		return err
	}
	f.skips = f.isNear && f.known.Mode() == neardup.SkipLinks && !a.Seed && haveOneDomain(a.URL, f.near.URI)
	if f.skips {
		x.finder.SkipOfNear()
	}
	return nil
}

// haveOneDomain reports whether two URLs in normal form have the same registrable domain.
func haveOneDomain(url []byte, other string) bool {
	domain := filter.Domain(urlx.Host(url))
	return bytes.Equal(domain, filter.Domain(urlx.Host([]byte(other))))
}

// add makes the page one that later ones are compared with. response is the record that was stored.
func (f *nearFinder) add(p *fetch.Page, a *attempt.Attempt, plan *recordPlan, response [16]byte) error {
	if !f.hasText || f.isNear || !plan.isStored || !plan.isPage {
		return nil
	}
	return f.known.Add(f.fingerprint, dedup.First{RecordID: response, URI: string(a.URL), Date: p.Times.Started.UTC()})
}

// simHashLen is the number of hexadecimal digits of a fingerprint.
const simHashLen = 16

// simHash returns the fingerprint of the page as it is in the archive; nil if it has none. It is valid until compare.
func (f *nearFinder) simHash() []byte {
	if !f.hasText {
		return nil
	}
	var number [8]byte
	binary.BigEndian.PutUint64(number[:], f.fingerprint)
	hex.Encode(f.digits[:], number[:])
	return f.digits[:]
}

// appendFields appends the header fields of the capture.
func (f *nearFinder) appendFields(dst []byte) []byte {
	if !f.hasText {
		return dst
	}
	dst = append(append(dst, capture.SimHashField...), ": "...)
	dst = append(append(dst, f.simHash()...), "\r\n"...)
	if !f.isNear {
		return dst
	}
	dst = append(append(dst, capture.NearField...), ": bits="...)
	dst = strconv.AppendInt(dst, int64(f.near.Bits), 10)
	if f.skips {
		dst = append(append(dst, ' '), capture.LinksSkipped...)
	}
	dst = f.near.Date.AppendFormat(append(dst, " date="...), time.RFC3339)
	return append(append(append(dst, " of="...), f.near.URI...), "\r\n"...)
}

// annotate adds to what crawl.log says of an attempt that its page is a near-duplicate.
func (f *nearFinder) annotate(note string) string {
	if !f.isNear {
		return note
	}
	if note != "" {
		note += ","
	}
	return note + "near-duplicate"
}
