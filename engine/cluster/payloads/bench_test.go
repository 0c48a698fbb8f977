package payloads

import (
	"errors"
	"fmt"
	"testing"

	"orbweaver/engine/cluster/message"
	"orbweaver/engine/records/dedup"
)

// benchPair is an agent a0 that knows some digests of a1, and the first has a record.
func benchPair(b *testing.B, digests int) *pair {
	b.Helper()
	p := newPair(b)
	must(b, p.asker.Close())
	p.open(b, 8<<20)
	p.store(b, "payload one")
	for i := range digests {
		_, _, err := p.stored.Insert(digestOf(fmt.Sprint(i)), dedup.First{})
		must(b, errors.Join(err, p.stored.Tend()))
	}
	p.checkpoint()
	return p
}

// BenchmarkFind_newPayload is what a page with a new payload costs.
func BenchmarkFind_newPayload(b *testing.B) {
	p := benchPair(b, 1e6)
	for p.asker.Known.Load() <= 1e6 {
		p.refresh(b)
	}
	body := make([]byte, 16)
	for n := 0; b.Loop(); n++ {
		digest := digestOf(string(fmt.Appendf(body[:0], "new %d", n)))
		if _, ok, err := p.asker.FindPayload(b.Context(), digest, 1<<14); ok || err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkAnswerPayload is what the other agent does for an answer: map, index, head of the record.
func BenchmarkAnswerPayload(b *testing.B) {
	p := benchPair(b, 1000)
	question := message.AppendPayloadQuestion(nil, digestOf("payload one"))
	for b.Loop() {
		if answer, err := p.holder.AnswerPayload(b.Context(), question[1:]); err != nil || len(answer) == 0 {
			b.Fatal(err)
		}
	}
}

// BenchmarkRefresh is what the digest of a payload costs both agents.
func BenchmarkRefresh(b *testing.B) {
	p := benchPair(b, b.N)
	b.ResetTimer()
	for p.asker.Known.Load() <= int64(b.N) {
		p.refresh(b)
	}
}
