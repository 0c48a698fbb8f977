package warc

import (
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base32"
	"encoding/hex"
	"fmt"
	"hash"
	"strings"
)

// newHash returns the hash function of a digest label, or nil if it is unknown.
func newHash(label string) hash.Hash {
	switch strings.ReplaceAll(strings.ToLower(label), "-", "") {
	case "sha1":
		return sha1.New()
	case "sha256":
		return sha256.New()
	case "sha512":
		return sha512.New()
	case "md5":
		return md5.New()
	}
	return nil
}

// digestMatches compares the text of a digest with a sum. The text is base32 or hexadecimal, in either case, with or
// without padding.
func digestMatches(text string, sum []byte) bool {
	text = strings.TrimRight(text, "=")
	enc := base32.StdEncoding.WithPadding(base32.NoPadding)
	return strings.EqualFold(text, enc.EncodeToString(sum)) || strings.EqualFold(text, hex.EncodeToString(sum))
}

// digestCheck computes the digests of a block while it is read, and compares them with the header. The zero value
// checks nothing.
type digestCheck struct {
	block, payload       hash.Hash // nil if there is nothing to compare
	stored               hash.Hash // of a chunked body with its chunking: some writers use this
	blockText, loadText  string
	http, inBody, failed bool
	head                 []byte // of the HTTP message, until it is complete
	chunked              bool
	chunks               chunkScan
	unknown              int // digests with unknown functions
	matched              int
	asStored             bool
}

// newDigestCheck determines which digests of a record can be checked. The payload of a revisit is in another record;
// that of a truncated record or of a segment is incomplete.
func newDigestCheck(r *RecordRead) *digestCheck {
	d := &digestCheck{http: r.IsHTTP()}
	label, text, ok := strings.Cut(r.Get("WARC-Block-Digest"), ":")
	if ok {
		if d.block, d.blockText = newHash(label), text; d.block == nil {
			d.unknown++
		}
	}
	label, text, ok = strings.Cut(r.Get("WARC-Payload-Digest"), ":")
	_, segmented := r.Lookup("WARC-Segment-Number")
	if ok && r.Type != Revisit && r.Type != Continuation && !segmented && r.Get("WARC-Truncated") == "" {
		if d.payload, d.loadText = newHash(label), text; d.payload == nil {
			d.unknown++
		} else if d.http {
			d.stored = newHash(label)
		}
	}
	if !d.http {
		d.inBody = true
	}
	return d
}

func (d *digestCheck) write(b []byte) {
	if d.block != nil {
		d.block.Write(b)
	}
	if d.payload == nil || d.failed {
		return
	}
	if !d.inBody {
		d.head = append(d.head, b...)
		n := headLength(d.head)
		if n == 0 {
			if d.failed = len(d.head) > httpHeadMax; d.failed {
				d.head = nil
			}
			return
		}
		h := parseHead(d.head[:n])
		if d.chunked = h.Chunked(); !d.chunked {
			d.stored = nil
		}
		b, d.head, d.inBody = d.head[n:], nil, true
	}
	if !d.chunked {
		d.payload.Write(b)
		return
	}
	d.stored.Write(b)
	for done := false; len(b) > 0 && !done; {
		var piece []byte
		var used int
		piece, used, done = d.chunks.next(b)
		d.payload.Write(piece)
		b = b[used:]
	}
}

// faults returns the mismatches after the whole block was read.
func (d *digestCheck) faults() []string {
	var faults []string
	switch {
	case d.block == nil:
	case digestMatches(d.blockText, d.block.Sum(nil)):
		d.matched++
	default:
		faults = append(faults, mismatch("WARC-Block-Digest", d.blockText, d.block.Sum(nil)))
	}
	if d.payload == nil {
		return faults
	}
	switch {
	case !d.inBody:
		faults = append(faults, "WARC-Payload-Digest, but the block has no complete HTTP head")
	case digestMatches(d.loadText, d.payload.Sum(nil)):
		d.matched++
	case d.chunked && digestMatches(d.loadText, d.stored.Sum(nil)):
		d.matched++
		d.asStored = true
	default:
		faults = append(faults, mismatch("WARC-Payload-Digest", d.loadText, d.payload.Sum(nil)))
	}
	return faults
}

// mismatch describes a digest field whose text does not match the sum of the bytes.
func mismatch(field, text string, sum []byte) string {
	return fmt.Sprintf("%s %s, the bytes give %s", field, text, base32.StdEncoding.EncodeToString(sum))
}

// parseSHA1 parses a labelled digest; nil if it is no SHA-1.
func parseSHA1(v string) *[20]byte {
	label, text, ok := strings.Cut(v, ":")
	if !ok || !strings.EqualFold(label, "sha1") {
		return nil
	}
	b, err := base32.StdEncoding.DecodeString(strings.ToUpper(text))
	if err != nil || len(b) != 20 {
		if b, err = hex.DecodeString(text); err != nil || len(b) != 20 {
			return nil
		}
	}
	return (*[20]byte)(b)
}
