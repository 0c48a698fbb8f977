package message

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"path"
	"time"

	"orbweaver/engine/peering"
	"orbweaver/engine/records/dedup"
	"orbweaver/engine/state/cluster"
	"orbweaver/engine/state/queued"
	"orbweaver/internal/urlx"
)

// DigestsMax is how many digests an answer has at most.
const DigestsMax = 8192

// warcNameMax is how long the name of a WARC file may be.
const warcNameMax = 255

const digestBytes = len(dedup.Digest{})

// AppendDigestsQuestion appends the question which payloads an agent has stored, from a place of its list on.
func AppendDigestsQuestion(dst []byte, from int64) []byte {
	return binary.LittleEndian.AppendUint64(append(dst, QuestionDigests, version), uint64(from))
}

// ReadDigestsQuestion reads the content of the question, behind its kind.
func ReadDigestsQuestion(content []byte) (from int64, err error) {
	if len(content) != 1+8 || content[0] != version || int64(binary.LittleEndian.Uint64(content[1:])) < 0 {
		return 0, fmt.Errorf("%w: not a question about digests: %.40q", peering.ErrMalformed, content)
	}
	return int64(binary.LittleEndian.Uint64(content[1:])), nil
}

// Digests are the answer: payloads that an agent has stored.
type Digests struct {
	Next   int64  // where the list goes on
	More   bool   // there are more
	Digest []byte // 20 bytes each
}

// Append appends the answer.
func (d *Digests) Append(dst []byte) []byte {
	more := byte(0)
	if d.More {
		more = 1
	}
	return append(binary.LittleEndian.AppendUint64(append(dst, more), uint64(d.Next)), d.Digest...)
}

// ReadDigests reads the answer, which it borrows.
func ReadDigests(answer []byte) (d Digests, err error) {
	const head = 1 + 8
	if len(answer) < head || answer[0] > 1 || (len(answer)-head)%digestBytes != 0 ||
		len(answer) > head+DigestsMax*digestBytes {
		return d, fmt.Errorf("not an answer with digests: %.40q, %d bytes", answer, len(answer))
	}
	d = Digests{Next: int64(binary.LittleEndian.Uint64(answer[1:])), More: answer[0] == 1, Digest: answer[head:]}
	if d.Next < 0 || d.More && len(d.Digest) == 0 {
		return d, fmt.Errorf("an answer with digests that leads nowhere: %d", d.Next)
	}
	return d, nil
}

// AppendPayloadQuestion appends the question which record has a payload.
func AppendPayloadQuestion(dst []byte, digest dedup.Digest) []byte {
	return append(append(dst, QuestionPayload, version), digest[:]...)
}

// ReadPayloadQuestion reads the content of the question, behind its kind.
func ReadPayloadQuestion(content []byte) (digest dedup.Digest, err error) {
	if len(content) != 1+digestBytes || content[0] != version {
		return digest, fmt.Errorf("%w: not a question about a payload: %.40q", peering.ErrMalformed, content)
	}
	return dedup.Digest(content[1:]), nil
}

// AppendPayloadRecord appends the answer: the record with the payload. If there is none, the answer is empty.
func AppendPayloadRecord(dst []byte, r *cluster.PayloadRecord) []byte {
	dst = append(dst, r.RecordID[:]...)
	dst = binary.LittleEndian.AppendUint64(dst, uint64(r.Date.UnixNano()))
	dst = binary.LittleEndian.AppendUint64(dst, uint64(r.Offset))
	dst = queued.AppendBytes(dst, []byte(r.File))
	return queued.AppendBytes(dst, []byte(r.URI))
}

// ReadPayloadRecord reads the answer. What it says will stand in a record: the URI must be in normal form, and the file
// a name without directory.
func ReadPayloadRecord(answer []byte) (r cluster.PayloadRecord, err error) {
	const head = 16 + 8 + 8
	if len(answer) < head {
		return r, fmt.Errorf("not the record of a payload: %.40q", answer)
	}
	copy(r.RecordID[:], answer)
	r.Date = time.Unix(0, int64(binary.LittleEndian.Uint64(answer[16:]))).UTC()
	r.Offset = int64(binary.LittleEndian.Uint64(answer[24:]))
	file, rest, ok := queued.CutBytes(answer[head:])
	if !ok || r.Offset < 0 || r.RecordID == [16]byte{} {
		return r, fmt.Errorf("not the place of a payload: %.80q", answer)
	}
	if len(file) == 0 || len(file) > warcNameMax || path.Base(string(file)) != string(file) || !isPrintable(file) {
		return r, fmt.Errorf("not the name of a WARC file: %.80q", file)
	}
	uri, rest, ok := queued.CutBytes(rest)
	if !ok || len(rest) > 0 || len(uri) > dedup.URIBytesMax {
		return r, fmt.Errorf("not the URI of a payload: %.80q", uri)
	}
	if url, err := urlx.Normalize(nil, uri); err != nil || !bytes.Equal(url, uri) {
		return r, fmt.Errorf("the URI of a payload is not in normal form: %.200q", uri)
	}
	r.File, r.URI = string(file), string(uri)
	return r, nil
}

// isPrintable says that a text has only printable bytes of ASCII, and no spaces.
func isPrintable(text []byte) bool {
	for _, c := range text {
		if c <= ' ' || c > '~' {
			return false
		}
	}
	return true
}
