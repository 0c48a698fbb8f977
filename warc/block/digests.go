package block

import (
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base32"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"hash"
	"strings"

	"orbweaver/internal/httphead"
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

// digestMatches compares the text of a digest with a sum. The text is base32 or hexadecimal, in either case, or base64,
// with or without padding.
func digestMatches(text string, sum []byte) bool {
	text = strings.TrimRight(text, "=")
	enc := base32.StdEncoding.WithPadding(base32.NoPadding)
	return strings.EqualFold(text, enc.EncodeToString(sum)) || strings.EqualFold(text, hex.EncodeToString(sum)) ||
		text == base64.RawStdEncoding.EncodeToString(sum) || text == base64.RawURLEncoding.EncodeToString(sum)
}

// Claims are the digests that a header has for a block.
type Claims struct {
	// Block and Payload are the values of the fields, LABEL:TEXT; empty if there is nothing to compare.
	Block, Payload string
	// HTTP is true if the block is an HTTP message, whose payload is its body.
	HTTP bool
}

// DigestCounts are the results of checks of digests.
type DigestCounts struct {
	// Matched digests, and those with Unknown functions.
	Matched, Unknown int
	// AsStored is set if the payload digest of a chunked body includes the chunking, as wget writes it.
	AsStored bool
}

// DigestCheck computes the digests of a block while it is read, and compares them with the header. The zero value
// checks nothing.
type DigestCheck struct {
	block, payload   hash.Hash // nil if there is nothing to compare
	stored           hash.Hash // of a chunked body with its chunking: some writers use this
	claimed          Claims    // their texts, without labels
	inBody, headless bool
	head             []byte // of the HTTP message, until it is complete
	chunked          bool
	chunks           ChunkScanner
	counts           DigestCounts
}

// NewDigestCheck returns a check of these digests.
func NewDigestCheck(c Claims) *DigestCheck {
	d := &DigestCheck{inBody: !c.HTTP}
	if label, text, ok := strings.Cut(c.Block, ":"); ok {
		if d.block, d.claimed.Block = newHash(label), text; d.block == nil {
			d.counts.Unknown++
		}
	}
	if label, text, ok := strings.Cut(c.Payload, ":"); ok {
		if d.payload, d.claimed.Payload = newHash(label), text; d.payload == nil {
			d.counts.Unknown++
		} else if c.HTTP {
			d.stored = newHash(label)
		}
	}
	return d
}

// Write adds more of the block.
func (d *DigestCheck) Write(b []byte) {
	if d.block != nil {
		d.block.Write(b)
	}
	if d.payload == nil || d.headless {
		return
	}
	if !d.inBody {
		d.head = append(d.head, b...)
		n := httphead.Length(d.head)
		if n == 0 {
			if d.headless = len(d.head) > HeadMax; d.headless {
				d.head = nil
			}
			return
		}
		h := ParseHead(d.head[:n])
		if d.chunked = h.hasChunkedCoding(); !d.chunked { // in HTTP/1.0, too: some writers believe it
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
		piece, used, done = d.chunks.Next(b)
		d.payload.Write(piece)
		b = b[used:]
	}
}

// Faults returns the mismatches after the whole block was read.
func (d *DigestCheck) Faults() []string {
	var faults []string
	switch {
	case d.block == nil:
	case digestMatches(d.claimed.Block, d.block.Sum(nil)):
		d.counts.Matched++
	default:
		faults = append(faults, mismatch("WARC-Block-Digest", d.claimed.Block, d.block.Sum(nil)))
	}
	if d.payload == nil {
		return faults
	}
	switch {
	case !d.inBody:
		faults = append(faults, "WARC-Payload-Digest, but the block has no complete HTTP head")
	case digestMatches(d.claimed.Payload, d.payload.Sum(nil)):
		d.counts.Matched++
	case d.chunked && digestMatches(d.claimed.Payload, d.stored.Sum(nil)):
		d.counts.Matched++
		d.counts.AsStored = true
	default:
		faults = append(faults, mismatch("WARC-Payload-Digest", d.claimed.Payload, d.payload.Sum(nil)))
	}
	return faults
}

// Counts returns the results after Faults.
func (d *DigestCheck) Counts() DigestCounts { return d.counts }

// mismatch describes a digest field whose text does not match the sum of the bytes.
func mismatch(field, text string, sum []byte) string {
	return fmt.Sprintf("%s %s, the bytes give %s", field, text, base32.StdEncoding.EncodeToString(sum))
}

// ParseSHA1 parses a labelled digest; nil if it is no SHA-1.
func ParseSHA1(v string) *[20]byte {
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
