package derive

import (
	"crypto/sha1" //nolint:gosec // no secret
	"strconv"
	"time"

	"orbweaver/warc"
	"orbweaver/warc/header"
)

// The headers of records that are made from other records: their identity, date and the fields of a conversion record
// for the text of a page (WARC 1.1, 6.8), in the order of Common Crawl's WET files. Identities are computed from those
// of the records that are described, so that a repeated run writes the same files. A record that has no identity gets
// one from its file and offset.

// ConversionFile returns the name of the file that is made from a source. kind is wet or wat.
func ConversionFile(source Source, kind string) string { return source.Stem + ".warc." + kind + ".gz" }

// AppendConversionFields appends the fields of the conversion record of a page whose text has this SHA-1. file is the
// WET file. Content-Length has no value yet.
func AppendConversionFields(dst []warc.Field, rec *Record, file string, sum [20]byte) []warc.Field {
	dst = append(dst, []warc.Field{
		{Name: "WARC-Type", Value: "conversion"}, {Name: "WARC-Target-URI", Value: string(rec.TargetURI)},
		{Name: "WARC-Date", Value: ConversionDate(rec)}, {Name: "WARC-Record-ID", Value: ConversionID(file, rec)},
		{Name: "WARC-Refers-To", Value: rec.Get("WARC-Record-ID")},
		{Name: "WARC-Block-Digest", Value: conversionDigest(sum)}, {Name: "Content-Type", Value: "text/plain"},
		{Name: header.LengthName},
		// Readers by position expect no more fields before Content-Length. The payload of a text is its block.
		{Name: "WARC-Payload-Digest", Value: conversionDigest(sum)},
	}...)
	if languages := rec.Languages(); languages != "" {
		dst = append(dst, warc.Field{Name: "WARC-Identified-Content-Language", Value: languages})
	}
	return dst
}

// ConversionID returns the identity of what is derived from a record and written to a file: a UUID of version 5 in
// form. of is nil for the warcinfo record of the file.
func ConversionID(file string, of *Record) string {
	var memory [256]byte
	text := append(memory[:0], file...)
	if of != nil {
		text = append(append(append(text, ' '), of.Get("WARC-Record-ID")...), ' ')
		text = append(strconv.AppendInt(text, of.Offset, 10), ' ')
		text = strconv.AppendInt(text, of.Inner, 10)
	}
	sum := sha1.Sum(text) //nolint:gosec // no secret
	sum[6], sum[8] = sum[6]&0x0f|0x50, sum[8]&0x3f|0x80
	return string(append(warc.ID(sum[:16]).Append(append(memory[:0], "<urn:uuid:"...)), '>'))
}

// ConversionDate returns WARC-Date of a record in whole seconds, as the readers of WARC/1.0 expect.
func ConversionDate(rec *Record) string {
	if rec.Date.IsZero() {
		return rec.Get("WARC-Date")
	}
	return rec.Date.UTC().Format(time.RFC3339)
}

// conversionDigest returns the value of a digest field.
func conversionDigest(sum [20]byte) string { return string(header.AppendDigest(nil, &sum)) }
