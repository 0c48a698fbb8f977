package message_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"orbweaver/engine/cluster/message"
	"orbweaver/engine/records/dedup"
	"orbweaver/engine/state/cluster"
)

// payloadRecord is what an agent may answer.
func payloadRecord() cluster.PayloadRecord {
	return cluster.PayloadRecord{
		First: dedup.First{
			RecordID: [16]byte{1}, URI: "http://a.example/b", Date: time.Date(2026, 1, 2, 3, 4, 5, 6000, time.UTC),
		},
		File: "a1-20260102030405000-00001-host.warc.gz", Offset: 1 << 33,
	}
}

// Questions and answers about payloads come back as they were. One byte more or less makes them no question.
func TestPayloadQuestions_comeBack(t *testing.T) {
	digest := dedup.Digest{1, 2, 3}
	q := message.AppendPayloadQuestion(nil, digest)
	if got, err := message.ReadPayloadQuestion(q[1:]); err != nil || got != digest || q[0] != message.QuestionPayload {
		t.Errorf("%x: %v", got, err)
	}
	l := message.AppendDigestsQuestion(nil, 1<<40)
	if from, err := message.ReadDigestsQuestion(l[1:]); err != nil || from != 1<<40 || l[0] != message.QuestionDigests {
		t.Errorf("%d: %v", from, err)
	}
	for _, content := range [][]byte{nil, q[1 : len(q)-1], append(bytes.Clone(q[1:]), 0), l[1 : len(l)-1]} {
		if _, err := message.ReadPayloadQuestion(content); err == nil {
			t.Errorf("%x is a question", content)
		}
		if _, err := message.ReadDigestsQuestion(content); err == nil {
			t.Errorf("%x is a question about a list", content)
		}
	}
	want := payloadRecord()
	if got, err := message.ReadPayloadRecord(message.AppendPayloadRecord(nil, &want)); err != nil || got != want {
		t.Errorf("%+v: %v", got, err)
	}
	d := message.Digests{Next: 77, More: true, Digest: bytes.Repeat(digest[:], 3)}
	if got, err := message.ReadDigests(d.Append(nil)); err != nil || got.Next != 77 || !got.More ||
		!bytes.Equal(got.Digest, d.Digest) {
		t.Errorf("%+v: %v", got, err)
	}
}

// What another agent says of a record will stand in a WARC file. Nothing can end the field there, and no name leads to
// another directory.
func TestReadPayloadRecord_refusesWhatMayNotStandInARecord(t *testing.T) {
	for name, change := range map[string]func(r *cluster.PayloadRecord){
		"a line in the file":     func(r *cluster.PayloadRecord) { r.File = "a\r\nWARC-Type: response" },
		"a directory":            func(r *cluster.PayloadRecord) { r.File = "../a.warc.gz" },
		"no file":                func(r *cluster.PayloadRecord) { r.File = "" },
		"a long file":            func(r *cluster.PayloadRecord) { r.File = strings.Repeat("a", 300) },
		"a line in the URI":      func(r *cluster.PayloadRecord) { r.URI += "\r\nWARC-Type: response" },
		"no URI":                 func(r *cluster.PayloadRecord) { r.URI = "" },
		"another form":           func(r *cluster.PayloadRecord) { r.URI = "http://A.example/b" },
		"no record":              func(r *cluster.PayloadRecord) { r.RecordID = [16]byte{} },
		"an offset that is none": func(r *cluster.PayloadRecord) { r.Offset = -1 },
	} {
		r := payloadRecord()
		change(&r)
		if got, err := message.ReadPayloadRecord(message.AppendPayloadRecord(nil, &r)); err == nil {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func FuzzReadPayloadAnswers(f *testing.F) {
	r := payloadRecord()
	f.Add(message.AppendPayloadRecord(nil, &r))
	f.Add((&message.Digests{Next: 1, More: true, Digest: make([]byte, 40)}).Append(nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		if r, err := message.ReadPayloadRecord(b); err == nil {
			if again, err := message.ReadPayloadRecord(message.AppendPayloadRecord(nil, &r)); err != nil || again != r {
				t.Errorf("%+v, and then %+v: %v", r, again, err)
			}
		}
		if d, err := message.ReadDigests(b); err == nil && !bytes.Equal(d.Append(nil), b) {
			t.Errorf("%x is another answer: %+v", b, d)
		}
	})
}
