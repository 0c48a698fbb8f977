package payloads

import (
	"bytes"
	"context"
	"crypto/sha1" //nolint:gosec // the digest of WARC
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/engine/cluster/message"
	"orbweaver/engine/peering"
	"orbweaver/engine/peering/ownership"
	"orbweaver/engine/records/dedup"
	"orbweaver/engine/state/cluster"
	"orbweaver/internal/vfs"
	"orbweaver/warc"
	"orbweaver/warc/lookup"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// storing is an agent that stores payloads.
type storing struct {
	disk   *vfs.Mem
	writer *warc.Writer
	stored *dedup.Map
	holder *Holder
	count  int
}

func newStoring(t testing.TB) *storing {
	t.Helper()
	s := &storing{disk: vfs.NewMem(1)}
	must(t, s.disk.MkdirAll("crawl/warc"))
	var err error
	s.writer, err = warc.OpenWriter(s.disk, warc.Options{Dir: "crawl/warc", Prefix: "a1", SizeMax: 1 << 16}, nil)
	must(t, err)
	s.stored, err = dedup.Open(s.disk, dedup.Options{Dir: "crawl/seen", MemoryBytes: 1 << 16}, nil)
	must(t, err)
	s.holder = NewHolder(HolderOptions{
		FS: s.disk, Dir: "crawl/warc", Stored: func() *dedup.Map { return s.stored },
		Writing: func() lookup.Writing { return s.writer },
	})
	t.Cleanup(func() { must(t, errors.Join(s.stored.Close(), s.writer.Close())) })
	return s
}

func digestOf(body string) dedup.Digest { return sha1.Sum([]byte(body)) } //nolint:gosec // as above

// store stores a page with this body.
func (s *storing) store(t testing.TB, body string) {
	t.Helper()
	e, err := warc.NewEncoder(warc.EncoderOptions{})
	must(t, err)
	s.count++
	digest := [20]byte(digestOf(body))
	rec := warc.Record{
		Type: warc.Response, Date: time.Now(), TargetURI: fmt.Appendf(nil, "http://a.test/%d", s.count),
		PayloadDigest: &digest, Index: &warc.IndexInfo{Status: 200},
		Block: [][]byte{[]byte("HTTP/1.1 200 OK\r\n\r\n" + body)},
	}
	must(t, e.Append(&rec))
	_, err = s.writer.Append(e.Group())
	must(t, err)
	_, _, err = s.stored.Insert(digest, dedup.First{RecordID: rec.ID, URI: string(rec.TargetURI), Date: rec.Date})
	must(t, err)
}

// checkpoint makes durable what was stored.
func (s *storing) checkpoint() {
	s.holder.Mark()
	s.holder.Publish()
}

// pair is an agent a0 that asks, and an agent a1 that stores.
type pair struct {
	*storing

	asker     *Asker
	disk      *vfs.Mem // of a0
	agents    []ownership.Agent
	questions int
	fault     error         // the answer to all questions; nil for the answer of a1
	delay     time.Duration // of each answer
	log       bytes.Buffer
}

func newPair(t testing.TB) *pair {
	t.Helper()
	p := &pair{
		storing: newStoring(t), disk: vfs.NewMem(2),
		agents: []ownership.Agent{{ID: "a0", Capacity: 1, Store: 1}, {ID: "a1", Capacity: 1, Store: 2}},
	}
	p.open(t, 1<<16)
	return p
}

// open opens what a0 knows.
func (p *pair) open(t testing.TB, memory int64) {
	t.Helper()
	p.asker = NewAsker(Options{
		Least: 5, Dir: "others", MemoryBytes: memory, FS: p.disk, Self: p.agents[0].Instance(),
		Agents: func() []ownership.Agent { return p.agents }, Ask: p.ask, Log: slog.New(slog.NewTextHandler(&p.log, nil)),
	})
	must(t, p.asker.Open())
	asker := p.asker
	t.Cleanup(func() { must(t, asker.Close()) })
}

func (p *pair) ask(ctx context.Context, to string, question []byte) ([]byte, error) {
	p.questions++
	select {
	case <-time.After(p.delay):
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	switch {
	case p.fault != nil || to != "a1":
		return nil, p.fault
	case question[0] == message.QuestionDigests:
		return p.holder.AnswerDigests(question[1:])
	default:
		return p.holder.AnswerPayload(ctx, question[1:])
	}
}

// refresh reads the list of a1.
func (p *pair) refresh(t testing.TB) {
	t.Helper()
	must(t, p.asker.Refresh(t.Context()))
}

// find looks a body up.
func (p *pair) find(t testing.TB, body string) (cluster.PayloadRecord, bool) {
	t.Helper()
	r, ok, err := p.asker.FindPayload(t.Context(), digestOf(body), int64(len(body)))
	must(t, err)
	return r, ok
}

// A payload of another agent is found when a checkpoint of that agent has it, with the place of its record: PS1. Small
// payloads, and those that no agent has, are not asked for.
func TestPS1_anAgentNamesWhatItsCheckpointHas(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPair(t)
		p.store(t, "payload one")
		if p.refresh(t); p.asker.Known.Load() > 0 {
			t.Error("it is not durable yet")
		}
		p.checkpoint()
		p.store(t, "payload two")
		p.store(t, "tiny")
		p.refresh(t)
		asked := p.questions
		if _, ok := p.find(t, "payload two"); ok || p.questions > asked {
			t.Error("another checkpoint has it")
		}
		r, ok := p.find(t, "payload one")
		if !ok || r.Agent != "a1" || r.URI != "http://a.test/1" || r.Offset == 0 || r.RecordID == [16]byte{} {
			t.Errorf("%+v", r)
		}
		rec, err := warc.ReadGroup(p.storing.disk, "crawl/warc", warc.Position{Offset: r.Offset})
		if err != nil || rec[0].ID != warc.ID(r.RecordID) || r.File != mustName(t, p.storing.disk) {
			t.Errorf("%+v: %v", r, err)
		}
		p.checkpoint()
		p.refresh(t)
		asked = p.questions
		if _, ok := p.find(t, "tiny"); ok || p.questions > asked {
			t.Error("it is smaller than what is asked for")
		}
		if _, ok := p.find(t, "payload three"); ok || p.questions > asked {
			t.Error("no agent has it")
		}
		if n := p.asker.FoundBytes.Load(); n != int64(len("payload one")) {
			t.Errorf("%d bytes found", n)
		}
	})
}

// mustName is the name that the one WARC file will have.
func mustName(t testing.TB, disk vfs.FS) string {
	t.Helper()
	files, err := warc.Files(disk, "crawl/warc")
	must(t, err)
	return files[0].Final()
}

// A record is found in its file, of many, also when the file was open at the last question and has been closed since.
func TestAnswerPayload_findsTheFile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPair(t)
		bodies := make([]string, 60)
		for i := range bodies {
			bodies[i] = strings.Repeat(" ", 10) + randomText(uint64(i), 8000)
			p.store(t, bodies[i])
			p.checkpoint()
			p.refresh(t)
			for _, back := range []int{0, 1, 5, 30} {
				if i < back {
					continue
				}
				if _, ok := p.find(t, bodies[i-back]); !ok {
					t.Errorf("%d pages back from %d: not found", back, i)
				}
			}
			time.Sleep(time.Second)
		}
		files, err := warc.Files(p.storing.disk, "crawl/warc")
		must(t, err)
		if len(files) < 4 {
			t.Errorf("only %d files", len(files))
		}
	})
}

// randomText is a text that no compressor makes short.
func randomText(seed uint64, size int) string {
	rng, text := rand.New(rand.NewPCG(seed, 1)), make([]byte, size)
	for i := range text {
		text[i] = byte(rng.Uint32())
	}
	return string(text)
}

// A record that is damaged, or whose file is gone, is not named: its payload is stored again.
func TestPS1_aRecordThatCannotBeReadIsNotNamed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPair(t)
		p.store(t, "payload one")
		p.checkpoint()
		p.refresh(t)
		r, ok := p.find(t, "payload one")
		if !ok {
			t.Fatal("not found")
		}
		f, err := p.storing.disk.OpenRW("crawl/warc/" + mustOpenName(t, p.storing.disk))
		must(t, err)
		_, err = f.WriteAt([]byte{1, 2, 3, 4}, r.Offset)
		must(t, errors.Join(err, f.Close()))
		if _, ok := p.find(t, "payload one"); ok || p.asker.Unanswered.Load() > 0 {
			t.Error("a damaged record is named")
		}
	})
}

func mustOpenName(t testing.TB, disk vfs.FS) string {
	t.Helper()
	files, err := warc.Files(disk, "crawl/warc")
	must(t, err)
	return files[0].Name
}

// An agent that does not answer delays one page, for Patience. Until Silence is over no page waits: PS2.
func TestPS2_aSilentAgentDelaysOnePage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPair(t)
		p.store(t, "payload one")
		p.checkpoint()
		p.refresh(t)
		p.delay = time.Hour
		for round := range 3 {
			for page := range 10 {
				began := time.Now()
				_, ok := p.find(t, "payload one")
				want := time.Duration(0)
				if page == 0 {
					want = Patience
				}
				if took := time.Since(began); ok || took != want {
					t.Errorf("round %d, page %d: found %v after %v", round, page, ok, took)
				}
			}
			time.Sleep(Silence)
		}
		if n := p.asker.Unanswered.Load(); n != 3 {
			t.Errorf("%d questions without an answer", n)
		}
		p.delay = 0
		if _, ok := p.find(t, "payload one"); !ok {
			t.Error("the agent answers again")
		}
	})
}

// Neither an agent that is lost nor other data under its name are asked. An agent of an earlier version is asked once.
func TestFind_asksTheAgentThatStoredIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPair(t)
		p.store(t, "payload one")
		p.checkpoint()
		p.refresh(t)
		both, asked := p.agents, p.questions
		p.agents = both[:1]
		if _, ok := p.find(t, "payload one"); ok || p.questions > asked {
			t.Error("a lost agent is asked")
		}
		p.agents = []ownership.Agent{both[0], {ID: "a1", Capacity: 1, Store: 3}}
		if _, ok := p.find(t, "payload one"); ok || p.questions > asked {
			t.Error("other data are asked")
		}
		p.fault = fmt.Errorf("%w: an unknown question", peering.ErrMalformed)
		for range 3 {
			p.refresh(t)
		}
		if p.questions != asked+1 {
			t.Errorf("an agent that cannot read the question is asked %d times", p.questions-asked)
		}
	})
}

// After a restart the list goes on where it was read up to, in parts; after a kill some of it is read again.
func TestRefresh_goesOnAfterARestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPair(t)
		const most = message.DigestsMax + 100
		for i := range most {
			_, _, err := p.stored.Insert(digestOf(fmt.Sprint(i)), dedup.First{})
			must(t, errors.Join(err, p.stored.Tend()))
		}
		p.checkpoint()
		if p.refresh(t); p.asker.Known.Load() != most || p.questions != 2 {
			t.Errorf("%d payloads after %d questions", p.asker.Known.Load(), p.questions)
		}
		p.disk = p.disk.KillClone()
		p.open(t, 1<<16)
		if p.refresh(t); p.asker.Known.Load() != most || p.questions != 3 {
			t.Errorf("%d payloads after %d questions", p.asker.Known.Load(), p.questions)
		}
		if d, err := message.ReadDigests(mustAnswer(t, p.holder, 1<<40)); err != nil || d.Next != 0 {
			t.Errorf("behind the end: %+v, %v", d, err)
		}
	})
}

func mustAnswer(t testing.TB, h *Holder, from int64) []byte {
	t.Helper()
	answer, err := h.AnswerDigests(message.AppendDigestsQuestion(nil, from)[1:])
	must(t, err)
	return answer
}

// The table takes as many digests as its memory is for, and says so once.
func TestRefresh_endsWhenTheMemoryIsFull(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPair(t)
		must(t, p.asker.Close())
		p.disk = vfs.NewMem(3)
		p.open(t, 12<<10)
		for i := range 3 * message.DigestsMax {
			_, _, err := p.stored.Insert(digestOf(fmt.Sprint(i)), dedup.First{})
			must(t, errors.Join(err, p.stored.Tend()))
		}
		p.checkpoint()
		for range 3 {
			p.refresh(t)
		}
		if n := p.asker.Known.Load(); n < 8937 || n > 8937+message.DigestsMax ||
			bytes.Count(p.log.Bytes(), []byte("--dedup-memory")) != 1 {
			t.Errorf("%d payloads\n%s", n, &p.log)
		}
	})
}
